//! The DWARF sections of one object, and which unit covers an address.
//!
//! Follows DWARF 5, sections 6.1.2 (`.debug_aranges`) and 7.5.1 (units). The
//! ranges of a unit come from `.debug_aranges` where that has an entry for the
//! unit, else from the unit's root entry, else from its line table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gimli::{
    Abbreviations, DebugAbbrev, DebugAbbrevOffset, DebugInfoOffset, RunTimeEndian, Section,
    SectionId, UnitOffset,
};

use crate::budget::Meter;
use crate::dwarf::decoder::Slice;
use crate::dwarf::limits::Limits;
use crate::dwarf::sections::Sections;
use crate::dwarf::split_unit::{Companions, Skeleton, SplitUnit};
use crate::dwarf::unit::Unit;
use crate::dwarf::unit_head::UnitHead;
use crate::dwarf::view::{Dwarf, Scope};
use crate::elf::elf_file::ElfFile;
use crate::elf::executable_ranges::ExecutableRanges;
use crate::error::SymbolError;
use crate::index::stored_units::{encode_part, UnitIndex};
use crate::index::unit_table::{UnitTable, NOTHING};
use crate::range_map::{Interval, RangeMap};

/// A part of an index gets no more units once it is as large as this.
const PART_SIZE: usize = 32 << 20;

/// The largest programs have some 100,000; small ones cost much more memory than bytes.
const MAX_UNITS: usize = 1 << 20;

/// Who reads more of them has understood.
const MAX_PROBLEMS: usize = 100;

/// The debug information of one object.
#[derive(Debug)]
pub(crate) struct DebugInfo {
    pub(crate) sections: Sections,
    pub(crate) endian: RunTimeEndian,
    pub(crate) units: Vec<Unit>,
    pub(crate) text: ExecutableRanges,
    pub(crate) limits: Arc<Limits>,
    /// The skeleton unit in the object, when these are the entries of a split unit.
    pub(crate) skeleton: Option<Skeleton>,
    companions: OnceLock<Companions>,
    /// Why parts of the debug information are missing, as far as lookups have met it.
    problems: Mutex<Vec<String>>,
    unit_map: RangeMap,
    index: OnceLock<Arc<UnitIndex>>,
    /// Tables of abbreviations by offset: units may share them.
    abbreviations: Mutex<BTreeMap<usize, Option<Arc<Abbreviations>>>>,
}

impl DebugInfo {
    /// Reads the sections of an object and the list of units; `None` when it has none.
    pub(crate) fn load(file: &ElfFile) -> Result<Option<Self>, SymbolError> {
        let info = Self::load_shared(file)?;
        Ok(info.map(|mut info| {
            info.unit_map = info.map_units();
            info
        }))
    }

    /// Like [`DebugInfo::load`], for entries that units of other objects refer to: which
    /// unit covers an address is not asked.
    pub(crate) fn load_shared(file: &ElfFile) -> Result<Option<Self>, SymbolError> {
        let has_units = [".debug_info", ".zdebug_info"]
            .iter()
            .any(|name| file.find_section(name.as_bytes()).is_some());
        if !has_units {
            return Ok(None);
        }
        let endian = if file.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
        Self::with_units(Sections::load(file)?, endian, file.text(), None).map(Some)
    }

    /// The units in the sections of a split unit.
    pub(crate) fn of_split_unit(
        sections: Sections,
        parent: &Self,
        skeleton: Skeleton,
    ) -> Result<Self, SymbolError> {
        Self::with_units(sections, parent.endian, &parent.text, Some(skeleton))
    }

    fn with_units(
        sections: Sections,
        endian: RunTimeEndian,
        text: &ExecutableRanges,
        skeleton: Option<Skeleton>,
    ) -> Result<Self, SymbolError> {
        let limits = sections.limits();
        let mut info = Self {
            sections,
            endian,
            units: Vec::new(),
            text: text.clone(),
            limits,
            skeleton,
            companions: OnceLock::new(),
            problems: Mutex::default(),
            unit_map: RangeMap::default(),
            index: OnceLock::new(),
            abbreviations: Mutex::default(),
        };
        info.units = info.read_units()?;
        Ok(info)
    }

    /// Names the files that belong to this one; fails when others have been named.
    pub(crate) fn attach(&self, companions: Companions) -> Result<(), Companions> {
        self.companions.set(companions)
    }

    pub(crate) fn companions(&self) -> Option<&Companions> {
        self.companions.get()
    }

    /// The debug information of the supplementary file.
    pub(crate) fn supplement(&self) -> Option<&Self> {
        self.companions()?.supplement.as_deref()
    }

    /// This file, or its supplementary file.
    pub(crate) fn file(&self, supplement: bool) -> Option<&Self> {
        if supplement {
            self.supplement()
        } else {
            Some(self)
        }
    }

    /// The units of which the object has only the skeleton.
    pub(crate) fn split_units(&self) -> Vec<SplitUnit> {
        let units = self.units.iter();
        let split = |unit: &Unit| unit.split_unit(self, &self.dwarf(&Scope::default()));
        units.filter_map(split).collect()
    }

    /// Notes why a part of the debug information is missing.
    pub(crate) fn add_problem(&self, problem: String) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        }
    }

    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        let failures = self.read_failures().map(|error| format!("debug information: {error}"));
        problems.iter().cloned().chain(failures).collect()
    }

    /// Why parts of the debug information could not be read from the file.
    fn read_failures(&self) -> impl Iterator<Item = &SymbolError> {
        let files = std::iter::once(self).chain(self.supplement());
        files.filter_map(|info| info.sections.failure())
    }

    /// Whether any unit covers code.
    pub(crate) fn describes_code(&self) -> bool {
        !self.unit_map.is_empty()
    }

    /// The decoder's view of the sections; `scope` keeps what it reads.
    pub(crate) fn dwarf<'a>(&'a self, scope: &'a Scope) -> Dwarf<'a> {
        let supplement = self.supplement().map(|info| info.dwarf(scope.supplement()));
        Dwarf::new(&self.sections, (self.endian, self.skeleton.is_some()), scope, supplement)
    }

    /// The table of abbreviations in these bytes of `.debug_abbrev`, decoded once.
    pub(crate) fn abbreviations(
        &self,
        dwarf: &Dwarf<'_>,
        extent: &Range<usize>,
    ) -> Option<Arc<Abbreviations>> {
        let decode = || {
            let table = dwarf.debug_abbrev.reader().slice().get(extent.clone())?;
            let section = DebugAbbrev::from(Slice::new(table, self.endian));
            section.abbreviations(DebugAbbrevOffset(0)).ok().map(Arc::new)
        };
        let mut known = self.abbreviations.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(extent.start).or_insert_with(decode).clone()
    }

    /// The unit that holds the entry at an offset of `.debug_info`, and the entry's place in it.
    pub(crate) fn unit_at(&self, offset: usize) -> Option<(usize, UnitOffset)> {
        let after = self.units.partition_point(|unit| unit.extent.start <= offset);
        let index = after.checked_sub(1)?;
        let extent = &self.units.get(index)?.extent;
        extent.contains(&offset).then(|| (index, UnitOffset(offset - extent.start)))
    }

    /// The table of the unit that covers `address`.
    pub(crate) fn table_at(&self, address: u64) -> Option<&UnitTable> {
        let index = self.unit_map.find(address)? as usize;
        Some(self.units.get(index)?.table(self, index))
    }

    /// The number of the unit that covers `address`.
    pub(crate) fn unit_covering(&self, address: u64) -> Option<u32> {
        self.unit_map.find(address)
    }

    /// Makes the table of a unit.
    pub(crate) fn prepare(&self, unit: u32) {
        let index = unit as usize;
        if let Some(unit) = self.units.get(index) {
            unit.table(self, index);
        }
    }

    /// Takes tables from an index, where it has them, from now on.
    pub(crate) fn use_index(&self, index: Arc<UnitIndex>) {
        // The first one is as good.
        let _ = self.index.set(index);
    }

    /// The table of a unit, as the index has it.
    pub(crate) fn stored_table(&self, unit: usize) -> Option<UnitTable> {
        UnitTable::from_bytes(self.index.get()?.bytes(u32::try_from(unit).ok()?)?)
    }

    /// The units decoded since the last call, as a part of an index.
    pub(crate) fn take_index_part(&self, key: &[u8]) -> Option<Vec<u8>> {
        let is_whole = self.companions().is_none_or(|companions| !companions.lacks_supplement);
        if self.limits.is_spent() || !is_whole || self.read_failures().next().is_some() {
            return None;
        }
        let mut fresh = Vec::new();
        let mut size = 0;
        for (unit, number) in self.units.iter().zip(0u32..) {
            let Some(table) = unit.take_fresh() else {
                continue;
            };
            size += table.bytes().len();
            fresh.push((number, table.bytes()));
            if size > PART_SIZE {
                break;
            }
        }
        let map = || self.unit_map.steps(NOTHING);
        (!fresh.is_empty()).then(|| encode_part(key, &map(), &fresh))
    }

    fn read_units(&self) -> Result<Vec<Unit>, SymbolError> {
        let mut units: Vec<Unit> = Vec::new();
        let Some(section) = self.sections.get(SectionId::DebugInfo) else {
            return Ok(units);
        };
        let mut start = 0;
        while start < section.size() && units.len() < MAX_UNITS {
            match UnitHead::read(section, start, self.endian) {
                Ok(head) => {
                    units.extend(Unit::new(start, &head));
                    start = start.saturating_add(head.unit_size);
                }
                // What comes before the damage is still good.
                Err(_) if !units.is_empty() => break,
                Err(reason) => {
                    return Err(SymbolError::dwarf(".debug_info", 0, "a unit header", reason));
                }
            }
        }
        limit_abbreviations(&mut units, self.sections.size(SectionId::DebugAbbrev));
        Ok(units)
    }

    fn map_units(&self) -> RangeMap {
        let mut meter = self.limits.range_entries.meter();
        let mut ranges = self.address_ranges(&self.dwarf(&Scope::default()));
        for (index, unit) in self.units.iter().enumerate() {
            if unit.may_have_code && !ranges.contains_key(&index) {
                let scope = Scope::default();
                let found = self.ranges_of(unit, &self.dwarf(&scope), &mut meter);
                ranges.insert(index, found.unwrap_or_default());
            }
        }
        let intervals = ranges.iter().flat_map(|(index, ranges)| {
            ranges.iter().map(|(start, end)| Interval {
                start: *start,
                end: *end,
                // The narrower range says more.
                rank: u64::MAX - end.saturating_sub(*start),
                value: u32::try_from(*index).unwrap_or(u32::MAX),
            })
        });
        RangeMap::build(intervals.collect())
    }

    fn ranges_of<'a>(
        &'a self,
        unit: &'a Unit,
        dwarf: &Dwarf<'a>,
        meter: &mut Meter<'_>,
    ) -> Option<Vec<(u64, u64)>> {
        let ranges = unit.code_ranges(self, dwarf, meter)?;
        if !ranges.is_empty() {
            return Some(ranges);
        }
        // Such a unit names the line table of another one for its declarations.
        if unit.is_partial(self, dwarf) {
            return None;
        }
        Some(unit.lines(self, dwarf).code_ranges())
    }

    /// The ranges of `.debug_aranges` by unit, as far as the section is sound.
    fn address_ranges(&self, dwarf: &Dwarf<'_>) -> BTreeMap<usize, Vec<(u64, u64)>> {
        let mut found: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        let mut headers = dwarf.debug_aranges.headers();
        while let Ok(Some(header)) = headers.next() {
            let Some(index) = self.unit_starting_at(header.debug_info_offset()) else {
                continue;
            };
            let mut entries = header.entries();
            while let Ok(Some(entry)) = entries.next() {
                let range = entry.range();
                if range.begin < range.end && self.text.contains(range.begin) {
                    found.entry(index).or_default().push((range.begin, range.end));
                }
            }
        }
        found
    }

    fn unit_starting_at(&self, offset: DebugInfoOffset<usize>) -> Option<usize> {
        self.units.binary_search_by_key(&offset.0, |unit| unit.extent.start).ok()
    }
}

/// Ends each unit's abbreviations where those of another unit start: however
/// many units name overlapping tables, decoding them all stays linear in the
/// section's size.
fn limit_abbreviations(units: &mut [Unit], section_size: usize) {
    let starts: BTreeSet<usize> = units.iter().map(|unit| unit.abbreviations.start).collect();
    for unit in units {
        let start = unit.abbreviations.start;
        let next = starts.range(start.saturating_add(1)..).next();
        unit.abbreviations.end = next.map_or(section_size, |next| (*next).min(section_size));
    }
}
