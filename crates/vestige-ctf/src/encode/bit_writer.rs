//! Writing integers of any size at any bit offset, in both byte orders.
//!
//! CTF 1.8.3, section 4.1.2; the reading side is [`crate::bits`].

use crate::bits::write_unsigned;
use crate::model::ByteOrder;

/// Where encoded fields go.
pub trait Output {
    /// Bit offset of the next field.
    fn position(&self) -> u64;
    /// Moves to the next multiple of `alignment`, a power of two; the bits between are 0.
    fn align(&mut self, alignment: u32);
    /// Writes the `size` lowest bits of a value, 1 to 64.
    fn unsigned(&mut self, value: u64, size: u32, order: ByteOrder);
    /// Writes bytes, on the next byte boundary.
    fn bytes(&mut self, bytes: &[u8]);
    /// Writes bytes of 0, on the next byte boundary.
    fn zeros(&mut self, count: usize);
}

/// Fields in memory.
#[derive(Debug, Default)]
pub struct BitWriter {
    data: Vec<u8>,
    position: u64,
}

impl BitWriter {
    /// What was written; unused bits of the last byte are 0.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// What was written, when no more is.
    #[must_use]
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }

    /// Writes an integer of whole bytes on a byte; those of usual sizes are one store.
    #[inline]
    fn whole_bytes(&mut self, value: u64, size: u32, order: ByteOrder) {
        let little = order == ByteOrder::Little;
        match size {
            8 => self.data.push(value as u8),
            16 if little => self.data.extend_from_slice(&(value as u16).to_le_bytes()),
            32 if little => self.data.extend_from_slice(&(value as u32).to_le_bytes()),
            64 if little => self.data.extend_from_slice(&value.to_le_bytes()),
            _ if little => {
                let count = (size / 8) as usize;
                self.data.extend_from_slice(value.to_le_bytes().get(..count).unwrap_or(&[]));
            }
            _ => {
                let unused = 8 - (size / 8) as usize;
                self.data.extend_from_slice(value.to_be_bytes().get(unused..).unwrap_or(&[]));
            }
        }
    }

    /// Forgets what is behind a bit offset.
    pub fn truncate(&mut self, position: u64) {
        if position < self.position {
            self.position = position;
            self.data.truncate(bytes_for(position));
        }
    }

    /// Forgets the first bytes, which are written. What is left begins at another bit offset,
    /// so their number is a multiple of all alignments.
    pub fn remove_front(&mut self, count: usize) {
        let count = count.min(self.data.len());
        self.data.drain(..count);
        self.position = self.position.saturating_sub(count as u64 * 8);
    }

    /// Gives memory back when there is more than is usual.
    pub fn shrink(&mut self, usual: usize) {
        self.data.shrink_to(usual);
    }

    /// Writes an integer over what is there.
    pub fn patch(&mut self, start: u64, value: u64, size: u32, order: ByteOrder) {
        write_unsigned(&mut self.data, start, size, order, value);
    }
}

impl Output for BitWriter {
    #[inline]
    fn position(&self) -> u64 {
        self.position
    }

    #[inline]
    fn align(&mut self, alignment: u32) {
        let mask = u64::from(alignment.max(1)) - 1;
        let aligned = (self.position + mask) & !mask;
        if aligned != self.position {
            self.position = aligned;
            self.data.resize(bytes_for(aligned), 0);
        }
    }

    #[inline]
    fn unsigned(&mut self, value: u64, size: u32, order: ByteOrder) {
        let start = self.position;
        self.position += u64::from(size);
        if (start | u64::from(size)) & 7 == 0 {
            self.whole_bytes(value, size, order);
        } else {
            self.data.resize(bytes_for(self.position), 0);
            write_unsigned(&mut self.data, start, size, order, value);
        }
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.align(8);
        self.data.extend_from_slice(bytes);
        self.position += bytes.len() as u64 * 8;
    }

    fn zeros(&mut self, count: usize) {
        self.align(8);
        self.data.resize(self.data.len() + count, 0);
        self.position += count as u64 * 8;
    }
}

/// Counts bits and keeps none: whether all values fit is known before one is written.
#[derive(Debug, Default)]
pub struct Measure {
    position: u64,
}

impl Measure {
    /// Starts again at a bit offset.
    pub fn restart(&mut self, position: u64) {
        self.position = position;
    }
}

impl Output for Measure {
    #[inline]
    fn position(&self) -> u64 {
        self.position
    }

    #[inline]
    fn align(&mut self, alignment: u32) {
        let mask = u64::from(alignment.max(1)) - 1;
        self.position = (self.position + mask) & !mask;
    }

    #[inline]
    fn unsigned(&mut self, _: u64, size: u32, _: ByteOrder) {
        self.position += u64::from(size);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.align(8);
        self.position += bytes.len() as u64 * 8;
    }

    fn zeros(&mut self, count: usize) {
        self.align(8);
        self.position += count as u64 * 8;
    }
}

fn bytes_for(bits: u64) -> usize {
    bits.div_ceil(8) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::read_bits;

    #[test]
    fn what_is_written_at_any_offset_is_read_there() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for lead in 0..17 {
                for size in 1..=64 {
                    let value = 0x9e37_79b9_7f4a_7c15u64 >> (64 - size);
                    let mut writer = BitWriter::default();
                    if lead > 0 {
                        writer.unsigned(0, lead, order);
                    }
                    writer.unsigned(value, size, order);
                    writer.align(8);
                    assert_eq!(read_bits(writer.data(), lead.into(), size, order), value);
                    assert_eq!(writer.position(), u64::from(lead + size).next_multiple_of(8));
                }
            }
        }
    }

    #[test]
    fn what_is_cut_off_leaves_the_rest_as_it_was() {
        let mut writer = BitWriter::default();
        writer.unsigned(7, 32, ByteOrder::Little);
        writer.bytes(b"abc");
        writer.truncate(32);
        writer.unsigned(1, 8, ByteOrder::Big);
        assert_eq!(writer.data(), [7, 0, 0, 0, 1]);
    }
}
