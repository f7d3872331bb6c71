//! Where numbers lie in event records, and how they are read there.

use crate::bits::read_bits;
use crate::model::{ByteOrder, IntegerClass};

/// How a number is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// The bits that are it, once they are the lowest ones.
    mask: u64,
    /// Bits from the start of its run.
    offset: u32,
    size: u8,
    order: ByteOrder,
    /// How far to shift the eight bytes that hold it, once they are in its byte order.
    shift: u8,
    /// Whether eight bytes at a byte hold it; not when its run may start within a byte.
    is_simple: bool,
}

impl Load {
    /// A number in a run of an alignment.
    pub fn new(offset: u32, size: u32, order: ByteOrder, alignment: u32) -> Self {
        let within = offset % 8;
        let shift = match order {
            ByteOrder::Little => Some(within),
            ByteOrder::Big => 64u32.checked_sub(within + size),
        };
        let is_simple = alignment >= 8 && within + size <= 64;
        let shift = shift.unwrap_or(0) as u8;
        let mask = u64::MAX >> 64u32.saturating_sub(size).min(63);
        Self { mask, offset, size: size as u8, order, shift, is_simple }
    }

    /// Its size, bits.
    #[inline(always)]
    pub fn size(&self) -> u8 {
        self.size
    }

    /// The value, in a run that starts at a bit; 0 past the end of the data.
    #[inline(always)]
    pub fn value(&self, data: &[u8], start: u64) -> u64 {
        let byte = (start / 8) as usize + (self.offset / 8) as usize;
        let rest = data.get(byte..).unwrap_or_default();
        let Some(raw) = rest.first_chunk::<8>().filter(|_| self.is_simple) else {
            return self.value_of_bits(data, start);
        };
        // Both ways are one instruction, so that this is no branch to be guessed.
        let word = match self.order {
            ByteOrder::Little => u64::from_le_bytes(*raw),
            ByteOrder::Big => u64::from_be_bytes(*raw),
        };
        (word >> (self.shift & 63)) & self.mask
    }

    /// The same, where fewer than eight bytes are left or these do not hold it.
    #[inline(never)]
    fn value_of_bits(&self, data: &[u8], start: u64) -> u64 {
        let position = start + u64::from(self.offset);
        let end = (position + u64::from(self.size)).div_ceil(8) as usize;
        let missing = ((position / 8) as usize + 8).saturating_sub(data.len());
        match data.last_chunk::<8>() {
            // The last bytes of small packets are read often: they come with those before them.
            Some(last) if self.is_simple && missing < 8 && end <= data.len() => {
                let word = match self.order {
                    ByteOrder::Little => u64::from_le_bytes(*last) >> (missing * 8),
                    ByteOrder::Big => u64::from_be_bytes(*last) << (missing * 8),
                };
                (word >> (self.shift & 63)) & self.mask
            }
            _ => read_bits(data, position, u32::from(self.size), self.order),
        }
    }
}

/// So many runs of a record are noted; few classes have more.
const NOTED: usize = 8;

/// Where the first runs of a record begin, bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunStarts([u32; NOTED]);

impl RunStarts {
    /// Notes where a run begins.
    #[inline(always)]
    pub fn note(&mut self, run: usize, start: u64) {
        if let Some(place) = self.0.get_mut(run) {
            *place = start as u32;
        }
    }
}

/// Where an integer lies in the records of a class: at a known distance from a run's start.
#[derive(Debug, Clone, Copy)]
pub struct NumberPlace {
    run: u32,
    load: Load,
    /// The bit of its sign, if it has one.
    sign: u64,
}

impl NumberPlace {
    pub(super) fn new(run: usize, load: Load, class: &IntegerClass) -> Option<Self> {
        let sign = if class.signed { load.mask ^ (load.mask >> 1) } else { 0 };
        (run < NOTED).then_some(Self { run: run as u32, load, sign })
    }

    /// Its value, of a record whose runs begin at `starts`; those without a sign above 2^63
    /// are negative.
    #[inline(always)]
    #[must_use]
    pub fn value(&self, data: &[u8], starts: &RunStarts) -> i64 {
        let start = starts.0.get(self.run as usize).copied().unwrap_or(0);
        self.value_from(data, u64::from(start))
    }

    /// Whether it lies in the first run.
    #[must_use]
    pub fn is_in_first_run(&self) -> bool {
        self.run == 0
    }

    /// Its value, of a record whose run with it begins at a bit.
    #[inline(always)]
    #[must_use]
    pub fn value_from(&self, data: &[u8], start: u64) -> i64 {
        let raw = self.load.value(data, start);
        (raw ^ self.sign).wrapping_sub(self.sign) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_same_value_wherever_the_data_end() {
        let all: Vec<u8> = (0..40u8).map(|index| index.wrapping_mul(151) ^ 0x5a).collect();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for (offset, size) in
                (0..24).flat_map(|offset| (1..=64).map(move |size| (offset, size)))
            {
                for alignment in [1, 8] {
                    let load = Load::new(offset, size, order, alignment);
                    for length in 0..all.len() {
                        let data = all.get(..length).unwrap_or_default();
                        for start in [0, 8, 64] {
                            let expected = read_bits(data, start + u64::from(offset), size, order);
                            let place = (offset, size, alignment, length, start);
                            assert_eq!(load.value(data, start), expected, "{place:?}");
                        }
                    }
                }
            }
        }
    }
}
