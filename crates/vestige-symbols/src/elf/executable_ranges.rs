//! The addresses of an object that hold instructions.
//!
//! Linkers leave debug information of removed functions in place, with start
//! addresses such as 0; what does not start in the text is such a remnant.

use crate::elf::header::{Headers, PF_X, PT_LOAD, SHF_EXECINSTR};
use crate::range_map::{Interval, RangeMap};

/// The executable address ranges of one object.
#[derive(Debug, Clone)]
pub(crate) struct ExecutableRanges {
    map: RangeMap,
    pub(crate) ranges: Vec<(u64, u64)>,
}

impl ExecutableRanges {
    /// Takes the executable segments, or the executable sections of a file without segments.
    pub(crate) fn of(headers: &Headers) -> Self {
        let mut ranges: Vec<_> = headers
            .segments
            .iter()
            .filter(|segment| segment.kind == PT_LOAD && segment.flags & PF_X != 0)
            .map(|segment| (segment.address, segment.memory_size))
            .collect();
        if ranges.is_empty() {
            ranges = headers
                .sections
                .iter()
                .filter(|section| section.flags & SHF_EXECINSTR != 0)
                .map(|section| (section.address, section.size))
                .collect();
        }
        Self::from_ranges(ranges)
    }

    fn from_ranges(sized: Vec<(u64, u64)>) -> Self {
        let ranges: Vec<_> = sized
            .into_iter()
            .map(|(start, size)| (start, start.saturating_add(size)))
            .filter(|(start, end)| start < end)
            .collect();
        let intervals = ranges
            .iter()
            .map(|(start, end)| Interval { start: *start, end: *end, rank: 0, value: 0 })
            .collect();
        Self { map: RangeMap::build(intervals), ranges }
    }

    pub(crate) fn contains(&self, address: u64) -> bool {
        self.map.find(address).is_some()
    }
}
