//! Stepping over the body of a record in whole bytes.

use crate::bits::find_nul;

/// The body of a record whose fields have known sizes, but for strings, and begin and end
/// with bytes: that is what most tracers write.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    segments: Vec<Segment>,
}

/// Some bytes at an alignment, and perhaps a string behind them.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// Alignment in bytes, less one.
    mask: usize,
    bytes: usize,
    is_string: bool,
}

impl Shape {
    /// Adds bits at an alignment; `None` when these are no bytes.
    pub fn add(&mut self, alignment: u32, bits: u32, is_string: bool) -> Option<()> {
        let alignment = alignment.max(u8::BITS);
        if alignment % u8::BITS != 0 || bits % u8::BITS != 0 {
            return None;
        }
        let mask = (alignment / u8::BITS) as usize - 1;
        let bytes = (bits / u8::BITS) as usize;
        self.segments.push(Segment { mask, bytes, is_string });
        Some(())
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
            let start = (at + segment.mask) & !segment.mask;
            note(index, start as u64 * 8);
            at = start + segment.bytes;
            if segment.is_string {
                at += find_nul(data.get(at..end)?)? + 1;
            }
        }
        (at <= end).then_some(at)
    }
}
