//! Stepping over the body of a record in whole bytes.

use crate::bits::find_nul;

/// The body of a record whose fields have known sizes, but for strings, and begin and end
/// with bytes: that is what most tracers write.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    segments: Vec<Segment>,
}

/// Some bytes at an alignment, and perhaps a string behind them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Segment {
    /// Alignment in bytes, less one.
    mask: u16,
    bytes: u16,
    is_string: bool,
}

impl Segment {
    /// Where it begins, at a byte or behind it.
    #[inline(always)]
    #[must_use]
    pub fn start(self, at: usize) -> usize {
        let mask = usize::from(self.mask);
        (at + mask) & !mask
    }

    /// Where it ends that begins at a byte; `None` when the end of its string is not there.
    #[inline(always)]
    #[must_use]
    pub fn end(self, data: &[u8], start: usize, end: usize) -> Option<usize> {
        let at = start + usize::from(self.bytes);
        match self.is_string {
            true => Some(at + find_nul(data.get(at..end)?)? + 1),
            false => Some(at),
        }
    }
}

impl Shape {
    /// Adds bits at an alignment; `None` when these are no bytes.
    pub fn add(&mut self, alignment: u32, bits: u32, is_string: bool) -> Option<()> {
        let alignment = alignment.max(u8::BITS);
        if alignment % u8::BITS != 0 || bits % u8::BITS != 0 {
            return None;
        }
        let mask = u16::try_from(alignment / u8::BITS - 1).ok()?;
        let bytes = u16::try_from(bits / u8::BITS).ok()?;
        self.segments.push(Segment { mask, bytes, is_string });
        Some(())
    }

    /// Its parts, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Where a record ends whose body begins at a byte; `None` when it is not all there.
    /// `note` is called with the index of each run and the bit where it begins.
    #[inline(always)]
    pub fn end(
        &self,
        data: &[u8],
        mut at: usize,
        end: usize,
        mut note: impl FnMut(usize, u64),
    ) -> Option<usize> {
        for (index, segment) in self.segments.iter().enumerate() {
            let start = segment.start(at);
            note(index, start as u64 * 8);
            at = segment.end(data, start, end)?;
        }
        (at <= end).then_some(at)
    }
}
