//! Entries that complete each other, also across units and files.
//!
//! Follows DWARF 5, sections 2.13.2 and 3.3.8.

use gimli::{AttributeValue, UnitOffset};

use crate::budget::Meter;
use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::entry::{DieAttributes, DieName};
use crate::dwarf::view::Dwarf;

/// An inlined copy refers to its abstract origin, that to a declaration: two
/// or three steps. A longer chain is a circle.
const MAX_ORIGINS: usize = 16;

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DiePlace {
    /// Whether its unit is one of the supplementary file.
    pub(crate) in_supplement: bool,
    pub(crate) unit_index: usize,
    pub(crate) offset: UnitOffset,
}

impl DiePlace {
    /// The place of the entry that this one completes. It is in a unit of `info` itself, or
    /// of its supplementary file, from which no way leads back.
    pub(crate) fn of_origin(
        attributes: &DieAttributes<'_>,
        info: &DebugInfo,
        unit_index: usize,
        in_supplement: bool,
    ) -> Option<Self> {
        let (in_supplement, (unit_index, offset)) = match attributes.origin? {
            AttributeValue::UnitRef(offset) => (in_supplement, (unit_index, offset)),
            AttributeValue::DebugInfoRef(offset) => {
                (in_supplement, info.file(in_supplement)?.unit_at(offset.0)?)
            }
            AttributeValue::DebugInfoRefSup(offset) if !in_supplement => {
                (true, info.supplement()?.unit_at(offset.0)?)
            }
            _ => return None,
        };
        Some(Self { in_supplement, unit_index, offset })
    }
}

impl<'a> DieName<'a> {
    /// Finds the names of the entry at `offset` of a unit; `None` when the meter has run out.
    pub(crate) fn of(
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        place: DiePlace,
        meter: &mut Meter<'_>,
    ) -> Option<Self> {
        let mut found = Self::default();
        let mut next = Some(place);
        for _ in 0..MAX_ORIGINS {
            let Some(place) = next else {
                break;
            };
            let Some((attributes, own)) = entry_at(info, dwarf, place) else {
                break;
            };
            meter.take(attributes.count)?;
            found.linkage = found.linkage.or(own.linkage);
            found.plain = found.plain.or(own.plain);
            if found.linkage.is_some() && found.plain.is_some() {
                break;
            }
            next = DiePlace::of_origin(&attributes, info, place.unit_index, place.in_supplement);
        }
        Some(found)
    }
}

/// The attributes of an entry, and the names among them.
fn entry_at<'a>(
    info: &'a DebugInfo,
    dwarf: &Dwarf<'a>,
    place: DiePlace,
) -> Option<(DieAttributes<'a>, DieName<'a>)> {
    let info = info.file(place.in_supplement)?;
    let dwarf = if place.in_supplement { dwarf.supplement()? } else { dwarf };
    let unit = info.units.get(place.unit_index)?;
    let (unit, offset) = unit.open_at(info, dwarf, place)?;
    let attributes = DieAttributes::at(&unit, offset)?;
    let names = attributes.names(dwarf, &unit);
    Some((attributes, names))
}
