//! Calls that the compiler replaced by the body of the function called.
//!
//! Follows DWARF 5, section 3.3.8.2 (concrete inlined instances).

use std::sync::OnceLock;

use gimli::UnitOffset;

use crate::debug_info::{DebugInfo, Dwarf, GimliUnit};
use crate::die::{DieAttributes, DieName};
use crate::function::FunctionName;
use crate::range_map::{Interval, RangeMap};

/// Each lookup gives all levels, so their number must not be the input's choice.
const MAX_LEVELS: usize = 512;

/// One inlined call.
#[derive(Debug)]
pub(crate) struct InlineCall {
    die: UnitOffset,
    parent: Option<u32>,
    /// The file of the call, as an index in the unit's line table.
    pub(crate) call_file: u64,
    /// The line of the call; 0 when it has none.
    pub(crate) call_line: u64,
    name: OnceLock<FunctionName>,
}

/// The inlined calls in one function.
#[derive(Debug, Default)]
pub(crate) struct InlineTable {
    calls: Vec<InlineCall>,
    map: RangeMap,
}

/// The inlined calls open at a point of the walk over a function's entries.
#[derive(Default)]
struct Nesting(Vec<(isize, u32)>);

impl Nesting {
    /// Closes the calls that an entry at `depth` is not part of.
    fn close(&mut self, depth: isize) {
        while self.0.last().is_some_and(|(open, _)| *open >= depth) {
            self.0.pop();
        }
    }

    fn innermost(&self) -> Option<u32> {
        self.0.last().map(|(_, call)| *call)
    }
}

impl InlineTable {
    /// Decodes the calls in the function at `die`; what follows damage is left out.
    pub(crate) fn read<'a>(
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        die: UnitOffset,
    ) -> Self {
        let mut table = Self::default();
        let mut intervals = Vec::new();
        // Stops at damage, with `None`; what was found before it counts.
        let _ = table.collect(info, dwarf, unit, die, &mut intervals);
        table.map = RangeMap::build(intervals);
        table
    }

    fn collect<'a>(
        &mut self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        die: UnitOffset,
        intervals: &mut Vec<Interval<(usize, u64)>>,
    ) -> Option<()> {
        let mut attributes_left = info.limits.inline_attributes.meter();
        let mut ranges_left = info.limits.range_entries.meter();
        let mut nesting = Nesting::default();
        let mut raw = unit.entries_raw(Some(die)).ok()?;
        let function = raw.read_abbreviation().ok()??;
        raw.skip_attributes(function.attributes()).ok()?;
        // Functions inside this one have their own tables.
        let mut skipped_below: Option<isize> = None;
        while !raw.is_empty() && raw.next_depth() > 0 {
            let (offset, depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation().ok()? else {
                continue;
            };
            attributes_left.take(1 + abbreviation.attributes().len() as u64)?;
            nesting.close(depth);
            skipped_below = skipped_below.filter(|skipped| depth > *skipped);
            if skipped_below.is_none() && abbreviation.tag() == gimli::DW_TAG_subprogram {
                skipped_below = Some(depth);
            }
            if skipped_below.is_some() || abbreviation.tag() != gimli::DW_TAG_inlined_subroutine {
                raw.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            let attributes = DieAttributes::read(&mut raw, abbreviation)?;
            let ranges = attributes.code_ranges(dwarf, unit, &info.text, &mut ranges_left)?;
            let call = self.add(offset, nesting.innermost(), &attributes);
            nesting.0.push((depth, call));
            let level = nesting.0.len();
            intervals.extend(ranges.iter().map(|(start, end)| Interval {
                start: *start,
                end: *end,
                rank: (level, u64::MAX - (end - start)),
                value: call,
            }));
        }
        Some(())
    }

    fn add(&mut self, die: UnitOffset, parent: Option<u32>, attributes: &DieAttributes<'_>) -> u32 {
        let index = self.calls.len() as u32;
        self.calls.push(InlineCall {
            die,
            parent,
            call_file: attributes.call_file,
            call_line: attributes.call_line,
            name: OnceLock::new(),
        });
        index
    }

    /// The inlined calls that cover `address`, innermost first.
    pub(crate) fn find(&self, address: u64) -> impl Iterator<Item = &InlineCall> {
        let get = |index: Option<u32>| self.calls.get(index? as usize);
        // A parent always has a lower index than its child: the chain ends.
        std::iter::successors(get(self.map.find(address)), move |call| get(call.parent))
            .take(MAX_LEVELS)
    }
}

impl InlineCall {
    /// The names of the function inlined here, looked up at the first call.
    pub(crate) fn name<'a>(
        &self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit_index: usize,
    ) -> &FunctionName {
        self.name.get_or_init(|| FunctionName::of(&DieName::of(info, dwarf, unit_index, self.die)))
    }
}
