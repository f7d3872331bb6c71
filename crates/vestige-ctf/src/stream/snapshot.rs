//! A packet as it is at one moment, while a tracer writes it.

use super::damage::Damage;
use super::file_window::{read_exactly, FileWindow};
use super::packet::{read_packet, PacketProperties};
use crate::model::TraceClass;
use crate::record::State;
use crate::source::ReadAt;

/// How often a packet is read anew that was replaced meanwhile.
const MOST_READS: usize = 1000;

/// The content of a file of one packet at one moment; what lies behind it is zero.
pub struct Snapshot {
    bytes: Vec<u8>,
    length: u64,
}

impl Snapshot {
    /// Reads the packet at the beginning of a file, whose tracer may add records to it or begin
    /// the next one in its place at any time.
    ///
    /// # Errors
    ///
    /// When there is no packet, or it does not stay for as long as it takes to read it.
    pub fn of(trace: &TraceClass, source: &dyn ReadAt) -> Result<Self, Damage> {
        let mut last = None;
        for _ in 0..MOST_READS {
            let mut state = State::new(trace.slot_count);
            let head = |state: &mut State| {
                read_packet(&mut FileWindow::default(), source, 0, (trace, None), state)
            };
            let before = head(&mut state)?;
            let size = before.properties.available_bits.div_ceil(8) as usize;
            let mut bytes = read_exactly(source, 0, size, Vec::new())?;
            let after = head(&mut state)?;
            if is_same(&before.properties, &after.properties) {
                // The records that it had then have not been touched since.
                if let Some(place) = bytes.get_mut(..before.head.len()) {
                    place.copy_from_slice(&before.head);
                }
                return Ok(Self { bytes, length: source.len() });
            }
            last = Some(before);
        }
        let offset = last.map_or(0, |packet| packet.properties.offset);
        let message = "the packet is replaced faster than it can be read";
        Err(Damage::new(super::DamageKind::ReadFailed, offset, source.len(), message))
    }
}

fn is_same(before: &PacketProperties, after: &PacketProperties) -> bool {
    (before.beginning, before.sequence_number) == (after.beginning, after.sequence_number)
        && before.content_bits <= after.content_bits
}

impl ReadAt for Snapshot {
    fn len(&self) -> u64 {
        self.length
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let rest = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let count = rest.min(buffer.len());
        let copied = self.bytes.read_at(offset, buffer)?.min(count);
        if let Some(zeros) = buffer.get_mut(copied..count) {
            zeros.fill(0);
        }
        Ok(count)
    }
}
