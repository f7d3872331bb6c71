//! Where numbers lie in event records, and how they are read there.

use crate::bits::{read_bits, sign_extend};
use crate::model::{ByteOrder, IntegerClass};

/// How a number is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Load {
    /// Bits from the start of its run.
    offset: u32,
    size: u8,
    order: ByteOrder,
    /// How far to shift the eight bytes that hold it, once they are in its byte order;
    /// `None` when it is spread over nine bytes or its run may start within a byte.
    shift: Option<u8>,
}

impl Load {
    /// A number in a run of an alignment.
    pub fn new(offset: u32, size: u32, order: ByteOrder, alignment: u32) -> Self {
        let within = offset % 8;
        let shift = match order {
            ByteOrder::Little => Some(within),
            ByteOrder::Big => 64u32.checked_sub(within + size),
        };
        let whole = alignment >= 8 && within + size <= 64;
        let shift = shift.filter(|_| whole).map(|shift| shift as u8);
        Self { offset, size: size as u8, order, shift }
    }

    /// Its size, bits.
    #[inline(always)]
    pub fn size(&self) -> u8 {
        self.size
    }

    /// The value, in a run that starts at a bit; 0 past the end of the data.
    #[inline(always)]
    pub fn value(&self, data: &[u8], start: u64) -> u64 {
        let position = start + u64::from(self.offset);
        let byte = (position / 8) as usize;
        let window = data.get(byte..byte.saturating_add(8));
        let (Some(window), Some(shift)) = (window, self.shift) else {
            return read_bits(data, position, u32::from(self.size), self.order);
        };
        let raw: [u8; 8] = window.try_into().unwrap_or_default();
        // Both ways are one instruction, so that this is no branch to be guessed.
        let word = match self.order {
            ByteOrder::Little => u64::from_le_bytes(raw),
            ByteOrder::Big => u64::from_be_bytes(raw),
        };
        (word >> shift) & (u64::MAX >> (64 - self.size))
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
    /// The bits that an integer with a sign lacks to 64.
    unused: u8,
}

impl NumberPlace {
    pub(super) fn new(run: usize, load: Load, class: &IntegerClass) -> Option<Self> {
        let unused = if class.signed { u64::BITS as u8 - load.size } else { 0 };
        (run < NOTED).then_some(Self { run: run as u32, load, unused })
    }

    /// Its value, of a record whose runs begin at `starts`; those without a sign above 2^63
    /// are negative.
    #[inline(always)]
    #[must_use]
    pub fn value(&self, data: &[u8], starts: &RunStarts) -> i64 {
        let start = starts.0.get(self.run as usize).copied().unwrap_or(0);
        let raw = self.load.value(data, u64::from(start));
        sign_extend(raw, u64::BITS - u32::from(self.unused))
    }
}
