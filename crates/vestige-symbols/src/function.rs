//! The functions of one unit by the addresses they cover.
//!
//! Follows DWARF 5, sections 2.17 and 3.3. Functions are taken at any depth: a
//! method lies in its class, a lambda in the function that creates it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::UnitOffset;

use crate::debug_info::{DebugInfo, Dwarf, GimliUnit};
use crate::demangle::{demangle, is_mangled};
use crate::die::{DieAttributes, DieName};
use crate::inline_call::InlineTable;
use crate::range_map::{Interval, RangeMap};

/// A function that has code of its own.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) die: UnitOffset,
    pub(crate) entry: u64,
    ranges: Range<usize>,
    name: OnceLock<FunctionName>,
    inlines: OnceLock<InlineTable>,
}

/// One of the ranges of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionRange {
    pub(crate) start: u64,
    function: u32,
}

/// What debug information calls a function; each form may be absent.
#[derive(Debug, Default, Clone)]
pub(crate) struct FunctionName {
    /// The symbol's name, as the linker sees it.
    pub(crate) linkage: Option<Arc<str>>,
    /// The identifier alone, without its scopes.
    pub(crate) plain: Option<Arc<str>>,
    /// What to show: the demangled linkage name, or the identifier.
    pub(crate) display: Option<Arc<str>>,
}

/// All functions of a unit.
#[derive(Debug, Default)]
pub(crate) struct FunctionTable {
    functions: Vec<Function>,
    ranges: Vec<FunctionRange>,
    map: RangeMap,
}

impl FunctionTable {
    /// Decodes a unit; what follows damage in it is left out.
    pub(crate) fn read<'a>(info: &'a DebugInfo, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> Self {
        let mut table = Self::default();
        let mut intervals = Vec::new();
        // Stops at damage, with `None`; what was found before it counts.
        let _ = table.collect(info, dwarf, unit, &mut intervals);
        table.map = RangeMap::build(intervals);
        table
    }

    fn collect<'a>(
        &mut self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        intervals: &mut Vec<Interval<(isize, u64)>>,
    ) -> Option<()> {
        let mut attributes_left = info.limits.function_attributes.meter();
        let mut ranges_left = info.limits.range_entries.meter();
        let mut raw = unit.entries_raw(None).ok()?;
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation().ok()? else {
                continue;
            };
            attributes_left.take(1 + abbreviation.attributes().len() as u64)?;
            if abbreviation.tag() != gimli::DW_TAG_subprogram {
                raw.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            let attributes = DieAttributes::read(&mut raw, abbreviation)?;
            let ranges = attributes.code_ranges(dwarf, unit, &info.text, &mut ranges_left)?;
            if !ranges.is_empty() {
                let entry = attributes.entry_address(dwarf, unit, &ranges);
                self.add(offset, entry, &ranges, depth, intervals);
            }
        }
        Some(())
    }

    fn add(
        &mut self,
        die: UnitOffset,
        entry: u64,
        ranges: &[(u64, u64)],
        depth: isize,
        intervals: &mut Vec<Interval<(isize, u64)>>,
    ) {
        let function = self.functions.len() as u32;
        let first = self.ranges.len();
        for (start, end) in ranges {
            // The deeper function is the inner one; of two beside each other the narrower.
            let rank = (depth, u64::MAX - (end - start));
            let value = self.ranges.len() as u32;
            intervals.push(Interval { start: *start, end: *end, rank, value });
            self.ranges.push(FunctionRange { start: *start, function });
        }
        self.functions.push(Function {
            die,
            entry,
            ranges: first..self.ranges.len(),
            name: OnceLock::new(),
            inlines: OnceLock::new(),
        });
    }

    /// The innermost function that covers `address`, and its ranges.
    pub(crate) fn find(&self, address: u64) -> Option<(&Function, &[FunctionRange])> {
        let part = self.ranges.get(self.map.find(address)? as usize)?;
        let function = self.functions.get(part.function as usize)?;
        Some((function, self.ranges.get(function.ranges.clone())?))
    }
}

impl Function {
    /// The names of the function, looked up at the first call.
    pub(crate) fn name<'a>(
        &self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit_index: usize,
    ) -> &FunctionName {
        self.name.get_or_init(|| FunctionName::of(&DieName::of(info, dwarf, unit_index, self.die)))
    }

    /// The inlined calls of the function, decoded at the first call.
    pub(crate) fn inlines<'a>(
        &self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit_index: usize,
    ) -> &InlineTable {
        self.inlines.get_or_init(|| {
            let unit = info.units.get(unit_index).and_then(|unit| unit.open(info, dwarf));
            unit.map(|unit| InlineTable::read(info, dwarf, &unit, self.die)).unwrap_or_default()
        })
    }
}

impl FunctionName {
    pub(crate) fn of(name: &DieName<'_>) -> Self {
        let linkage = name.linkage.map(String::from_utf8_lossy);
        let plain = name.plain.map(String::from_utf8_lossy);
        let demangled = linkage.as_deref().and_then(demangle);
        let display = match (&demangled, &plain, &linkage) {
            (Some(name), _, _) => Some(Arc::from(name.as_str())),
            (None, Some(name), _) | (None, None, Some(name)) => Some(Arc::from(name.as_ref())),
            (None, None, None) => None,
        };
        Self { linkage: linkage.map(Arc::from), plain: plain.map(Arc::from), display }
    }

    /// Whether a symbol at the function's entry is this function's: some
    /// functions, lambdas among them, have no linkage name in debug
    /// information, and a clone such as `foo.isra.0` has only its origin's.
    pub(crate) fn may_be(&self, symbol: &str) -> bool {
        match (&self.linkage, &self.plain) {
            (Some(linkage), _) => is_clone_of(symbol, linkage),
            (None, Some(plain)) => is_mangled(symbol) || is_clone_of(symbol, plain),
            (None, None) => true,
        }
    }

    /// Whether a symbol is this very function, not a clone of it.
    pub(crate) fn is_exactly(&self, symbol: &str) -> bool {
        [&self.linkage, &self.plain].into_iter().flatten().any(|name| name.as_ref() == symbol)
    }
}

fn is_clone_of(symbol: &str, name: &str) -> bool {
    symbol.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
