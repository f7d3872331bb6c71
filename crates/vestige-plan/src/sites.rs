//! Places that a compiler has left at the entries of functions.
//!
//! `-fpatchable-function-entry=N,M` puts no-operation instructions there and the address of the first into the
//! section `__patchable_function_entries`; `-pg -mfentry -mnop-mcount -mrecord-mcount` puts
//! the address of one into `__mcount_loc`. In objects that are loaded anywhere, relocations
//! have the addresses (`R_X86_64_RELATIVE`).

use std::collections::BTreeMap;

use vestige_symbols::{ObjectFile, Section, SymbolError};

use crate::object::word;

const SECTIONS: &[&[u8]] = &[b"__patchable_function_entries", b"__mcount_loc"];
const SHT_RELA: u32 = 4;
const RELATIVE: u64 = 8;
/// Of the instructions that may be in front of an entry.
const MOST_BEFORE: u64 = 256;

/// The addresses of all places, in order.
pub(crate) fn sites(object: &ObjectFile) -> Result<Vec<u64>, SymbolError> {
    let sections = object.sections().iter();
    let sections: Vec<&Section> = sections
        .filter(|one| one.has_bits() && SECTIONS.contains(&object.section_name(one)))
        .collect();
    let mut found = Vec::new();
    if sections.is_empty() {
        return Ok(found);
    }
    let added = relocated(object, &sections)?;
    for section in sections {
        let data = object.read_section(section)?;
        for (index, entry) in data.chunks_exact(8).enumerate() {
            let place = section.address.saturating_add(index as u64 * 8);
            let stored = word(entry, 0, 8).unwrap_or_default();
            found.push(added.get(&place).copied().unwrap_or(stored));
        }
    }
    found.retain(|site| *site != 0);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// What relocations put into sections, by place.
fn relocated(
    object: &ObjectFile,
    sections: &[&Section],
) -> Result<BTreeMap<u64, u64>, SymbolError> {
    let mut found = BTreeMap::new();
    let is_inside = |place: u64| {
        let mut sections = sections.iter();
        sections.any(|one| place >= one.address && place - one.address < one.size)
    };
    let tables = object.sections().iter();
    for table in tables.filter(|one| one.kind == SHT_RELA && one.has_bits()) {
        let data = object.read_section(table)?;
        for entry in data.chunks_exact(24) {
            let (place, info) = (word(entry, 0, 8), word(entry, 8, 8));
            if let (Some(place), Some(RELATIVE), Some(added)) = (place, info, word(entry, 16, 8)) {
                if is_inside(place) {
                    found.insert(place, added);
                }
            }
        }
    }
    Ok(found)
}

/// Whether one of the places belongs to a function whose entry is at `start`, with the first
/// instruction that may be replaced at `place`; what is before `least` belongs to the one before.
pub(crate) fn has_site(sites: &[u64], start: u64, place: u64, least: u64) -> bool {
    let least = start.saturating_sub(MOST_BEFORE).max(least);
    let first = sites.partition_point(|site| *site < least);
    sites.get(first).is_some_and(|site| *site <= place)
}
