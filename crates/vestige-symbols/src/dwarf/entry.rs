//! One debugging information entry: the attributes this crate reads.
//!
//! Follows DWARF 5, sections 2.15 (names), 2.17 (code addresses), 3.3
//! (subroutines) and 2.13.2 / 3.3.8 (entries that complete others).

use gimli::{Abbreviation, AttributeValue, EntriesRaw, UnitOffset};

use crate::budget::Meter;
use crate::dwarf::decoder::{GimliUnit, Slice};
use crate::dwarf::strings::attribute_string;
use crate::dwarf::view::Dwarf;
use crate::elf::executable_ranges::ExecutableRanges;

/// No producer comes near; attributes without bytes of their own would
/// otherwise let each short entry cost as much as the longest abbreviation.
pub(crate) const MAX_ATTRIBUTES: usize = 256;

pub(crate) type Value<'a> = AttributeValue<Slice<'a>>;

/// The attributes of a subprogram or of an inlined call.
#[derive(Debug, Default)]
pub(crate) struct DieAttributes<'a> {
    name: Option<Value<'a>>,
    linkage_name: Option<Value<'a>>,
    /// The entry that this one completes.
    pub(crate) origin: Option<Value<'a>>,
    low_pc: Option<Value<'a>>,
    high_pc: Option<Value<'a>>,
    ranges: Option<Value<'a>>,
    entry_pc: Option<Value<'a>>,
    pub(crate) call_file: u64,
    pub(crate) call_line: u64,
    /// How much reading the entry cost.
    pub(crate) count: u64,
}

/// The names of an entry, its own or those of the entries it completes.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct DieName<'a> {
    pub(crate) linkage: Option<&'a [u8]>,
    pub(crate) plain: Option<&'a [u8]>,
}

impl<'a> DieAttributes<'a> {
    /// Reads the attributes of the entry whose abbreviation was just read;
    /// `None` when they are damaged.
    pub(crate) fn read(
        raw: &mut EntriesRaw<'_, '_, Slice<'a>>,
        abbreviation: &Abbreviation,
    ) -> Option<Self> {
        if abbreviation.attributes().len() > MAX_ATTRIBUTES {
            return None;
        }
        let count = 1 + abbreviation.attributes().len() as u64;
        let mut found = Self { count, ..Self::default() };
        for specification in abbreviation.attributes() {
            let attribute = raw.read_attribute(*specification).ok()?;
            found.set(attribute.name(), attribute.value());
        }
        Some(found)
    }

    /// Reads the attributes of the entry at `offset`, or of the unit's root entry.
    pub(crate) fn at(unit: &GimliUnit<'a>, offset: Option<UnitOffset>) -> Option<Self> {
        let mut raw = unit.entries_raw(offset).ok()?;
        let abbreviation = raw.read_abbreviation().ok()??;
        Self::read(&mut raw, abbreviation)
    }

    fn set(&mut self, name: gimli::DwAt, value: Value<'a>) {
        match name {
            gimli::DW_AT_name => self.name = Some(value),
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                self.linkage_name = Some(value);
            }
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => self.origin = Some(value),
            gimli::DW_AT_low_pc => self.low_pc = Some(value),
            gimli::DW_AT_high_pc => self.high_pc = Some(value),
            gimli::DW_AT_ranges => self.ranges = Some(value),
            gimli::DW_AT_entry_pc => self.entry_pc = Some(value),
            gimli::DW_AT_call_file => self.call_file = file_index(value),
            gimli::DW_AT_call_line => self.call_line = value.udata_value().unwrap_or(0),
            _ => {}
        }
    }

    /// The names that the entry itself states.
    pub(crate) fn names(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>) -> DieName<'a> {
        let text = |value: Option<Value<'a>>| {
            attribute_string(dwarf, unit, value?).filter(|text| !text.is_empty())
        };
        DieName { linkage: text(self.linkage_name), plain: text(self.name) }
    }

    /// Appends the ranges of code that start in `text`, in the order of the list.
    ///
    /// `None` when the meter has run out.
    pub(crate) fn code_ranges(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        text: &ExecutableRanges,
        meter: &mut Meter<'_>,
    ) -> Option<Vec<(u64, u64)>> {
        let mut ranges = Vec::new();
        if let Some(value) = &self.ranges {
            read_range_list(dwarf, unit, value, meter, &mut ranges)?;
        } else if let Some(start) = address(dwarf, unit, self.low_pc.as_ref()) {
            ranges.extend(self.high_address(dwarf, unit, start).map(|end| (start, end)));
        }
        ranges.retain(|(start, end)| start < end && text.contains(*start));
        Some(ranges)
    }

    fn high_address(&self, dwarf: &Dwarf<'a>, unit: &GimliUnit<'a>, start: u64) -> Option<u64> {
        match self.high_pc.as_ref()? {
            AttributeValue::Udata(size) => start.checked_add(*size),
            value => address(dwarf, unit, Some(value)),
        }
    }

    /// The address a call goes to: the entry address where the entry states
    /// one, else the start of the first range. Compilers list the part with
    /// the entry first; a part that is seldom run may lie lower in memory.
    pub(crate) fn entry_address(
        &self,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        ranges: &[(u64, u64)],
    ) -> u64 {
        let first = ranges.first().map_or(0, |(start, _)| *start);
        let covered =
            |address: &u64| ranges.iter().any(|(start, end)| start <= address && address < end);
        let stated = match &self.entry_pc {
            Some(AttributeValue::Udata(offset)) => first.checked_add(*offset),
            value => address(dwarf, unit, value.as_ref()),
        };
        let base = || address(dwarf, unit, self.low_pc.as_ref());
        stated.filter(covered).or_else(|| base().filter(covered)).unwrap_or(first)
    }
}

/// DW_AT_call_file has its own form of value for what is a plain index.
fn file_index(value: Value<'_>) -> u64 {
    match value {
        AttributeValue::FileIndex(index) => index,
        value => value.udata_value().unwrap_or(0),
    }
}

pub(crate) fn address<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    value: Option<&Value<'a>>,
) -> Option<u64> {
    dwarf.attr_address(unit, *value?).ok().flatten()
}

/// Appends the ranges of a range list; what follows a damaged entry is left out.
pub(crate) fn read_range_list<'a>(
    dwarf: &Dwarf<'a>,
    unit: &GimliUnit<'a>,
    value: &Value<'a>,
    meter: &mut Meter<'_>,
    ranges: &mut Vec<(u64, u64)>,
) -> Option<()> {
    let Ok(Some(mut list)) = dwarf.attr_ranges(unit, *value) else {
        return Some(());
    };
    // Entry by entry, since a long list may well hold no range at all.
    while let Ok(Some(raw)) = list.next_raw() {
        meter.take(1)?;
        match list.convert_raw(raw) {
            Ok(Some(range)) => ranges.push((range.begin, range.end)),
            Ok(None) => {}
            Err(_) => break,
        }
    }
    Some(())
}
