//! What is known of a packet before it is read.

use super::packet::PacketProperties;

/// Where a packet is, and what is known of it without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PacketEntry {
    /// Byte offset in the file.
    pub offset: u64,
    /// Size with padding, bytes.
    pub size: u64,
    /// Clock value at its beginning, cycles.
    pub beginning: Option<u64>,
    /// Clock value at its end, cycles.
    pub end: Option<u64>,
    /// Event records discarded since the stream began.
    pub events_discarded: Option<u64>,
    /// Sequence number in the stream.
    pub sequence_number: Option<u64>,
}

impl PacketEntry {
    /// What an index tells of a packet, for whoever judges its times.
    pub(super) fn properties(&self) -> PacketProperties {
        let bits = self.size.saturating_mul(8);
        PacketProperties {
            offset: self.offset,
            total_bits: bits,
            content_bits: bits,
            available_bits: bits,
            beginning: self.beginning,
            end: self.end,
            events_discarded: self.events_discarded,
            sequence_number: self.sequence_number,
            ..PacketProperties::default()
        }
    }
}
