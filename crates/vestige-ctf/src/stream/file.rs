//! One data stream file: its packets, found through its index or through their headers.

use std::sync::Arc;

use super::lttng_index;
use super::packet::{read_packet, PacketProperties};
use super::packet_entry::PacketEntry;
use crate::error::{CtfError, Result};
use crate::model::TraceClass;
use crate::record::State;
use crate::source::ReadAt;

/// A data stream file with the list of its packets.
pub struct DataFile {
    /// The bytes.
    pub source: Arc<dyn ReadAt>,
    /// Its packets in the order of the file.
    pub packets: Vec<PacketEntry>,
    /// The first packet, which says to which data stream the file belongs.
    pub first: PacketProperties,
    /// Why the list ends before the file does.
    pub problem: Option<CtfError>,
}

impl DataFile {
    /// Lists the packets of a file.
    ///
    /// `index` is the content of its LTTng index file, when there is one.
    ///
    /// # Errors
    ///
    /// When not even its first packet can be read.
    pub fn open(trace: &TraceClass, source: Arc<dyn ReadAt>, index: Option<&[u8]>) -> Result<Self> {
        let mut state = State::new(trace.slot_count);
        let first = read_packet(source.as_ref(), 0, trace, &mut state)?.properties;
        let indexed = index.and_then(|bytes| lttng_index::parse(bytes, source.len()));
        if let Some(packets) = indexed.filter(|packets| !packets.is_empty()) {
            return Ok(Self { source, packets, first, problem: None });
        }
        let (packets, problem) = list_packets(trace, source.as_ref(), &first, &mut state);
        Ok(Self { source, packets, first, problem })
    }
}

/// Walks from header to header. What cannot be read ends the list; the packets before it
/// stay usable, and a last packet that is cut is one of them.
fn list_packets(
    trace: &TraceClass,
    source: &dyn ReadAt,
    first: &PacketProperties,
    state: &mut State,
) -> (Vec<PacketEntry>, Option<CtfError>) {
    let mut packets = vec![PacketEntry::of(first)];
    let mut offset = first.total_bits / 8;
    while offset < source.len() {
        match read_packet(source, offset, trace, state) {
            Err(error) => return (packets, Some(error)),
            Ok(packet) if packet.properties.stream_class != first.stream_class => {
                let message = "the packet belongs to another stream class than the first \
                               packet of the file";
                return (packets, Some(CtfError::packet(offset, message)));
            }
            Ok(packet) => {
                packets.push(PacketEntry::of(&packet.properties));
                offset = offset.saturating_add(packet.properties.total_bits / 8);
            }
        }
    }
    let problem = packets.last().filter(|_| offset > source.len()).map(|last| {
        let message = format!(
            "packet cut: it has {} bytes, the file holds {} of them",
            last.size,
            source.len() - last.offset
        );
        CtfError::packet(last.offset, message)
    });
    (packets, problem)
}
