//! Split debug information: a unit whose entries are in a file of their own.
//!
//! Follows DWARF 5, sections 3.1.2 (skeleton units), 3.1.3 (split units) and
//! 7.3.5 (packages), and GCC's extension of DWARF 4 that came before. What
//! the linker has to relocate stays in the object: the skeleton unit with its
//! line table, `.debug_addr` and, before DWARF 5, `.debug_ranges`. The entries
//! are in a `.dwo` file, or with all others in a package, `.dwp`.

use std::fmt;
use std::sync::Arc;

use gimli::{DebugAddrBase, DebugCuIndex, DebugRngListsBase, RunTimeEndian, SectionId};

use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::decoder::Slice;
use crate::dwarf::sections::Sections;
use crate::dwarf::view::Scope;
use crate::error::SymbolError;

/// A unit of which the object has only the skeleton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitUnit {
    /// What skeleton and split unit have in common.
    pub dwo_id: u64,
    /// The name of the `.dwo` file, as the compiler was told it.
    pub name: Vec<u8>,
    /// The directory that the name is relative to.
    pub directory: Vec<u8>,
}

/// What the entries of a split unit need to know of its skeleton.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Skeleton {
    pub(crate) dwo_id: u64,
    pub(crate) low_pc: u64,
    pub(crate) addr_base: DebugAddrBase<usize>,
    /// The base of ranges in `.debug_ranges`, before DWARF 5.
    pub(crate) ranges_base: DebugRngListsBase<usize>,
}

/// The entries of one split unit.
#[derive(Debug)]
pub(crate) struct SplitEntries {
    pub(crate) info: DebugInfo,
    pub(crate) unit_index: usize,
}

/// Gives the sections of the file that should hold the split unit with an ID; `None` when
/// none is known.
pub(crate) type SplitSections =
    Box<dyn Fn(u64) -> Option<Result<Arc<Sections>, SplitFailure>> + Send + Sync>;

/// The files beside the one with the debug information.
#[derive(Default)]
pub(crate) struct Companions {
    pub(crate) supplement: Option<Arc<DebugInfo>>,
    /// Whether there should be a supplementary file, and none that can be used is there.
    pub(crate) lacks_supplement: bool,
    pub(crate) package: Option<Arc<Sections>>,
    pub(crate) split: Option<SplitSections>,
}

/// Why a `.dwo` file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SplitFailure {
    /// It is not there or may not be read: the system's message.
    Access(String),
    /// It is no sound ELF file.
    Content(SymbolError),
}

/// Why the entries of a split unit cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SplitProblem {
    Missing,
    Failure(SplitFailure),
    Package(SymbolError),
    OtherId,
    TooMany,
}

impl fmt::Debug for Companions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Companions")
    }
}

impl fmt::Display for SplitProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("no file found"),
            Self::Failure(SplitFailure::Access(message)) => f.write_str(message),
            Self::Failure(SplitFailure::Content(error)) => error.fmt(f),
            Self::Package(error) => write!(f, "damaged package: {error}"),
            Self::OtherId => f.write_str("the file has no unit with this dwo_id"),
            Self::TooMany => f.write_str("more units refer to the file than it can have"),
        }
    }
}

impl Companions {
    pub(crate) fn is_empty(&self) -> bool {
        let nothing = self.supplement.is_none() && self.package.is_none() && self.split.is_none();
        nothing && !self.lacks_supplement
    }

    /// Finds the entries that belong to a skeleton: in the package, else in a file of their own.
    pub(crate) fn entries(
        &self,
        parent: &DebugInfo,
        skeleton: Skeleton,
    ) -> Result<SplitEntries, SplitProblem> {
        if let Some(package) = &self.package {
            let package = with_sections_of(package, parent);
            let part = part_of_package(&package, parent.endian, skeleton.dwo_id);
            if let Some(sections) = part.map_err(SplitProblem::Package)? {
                return entries_in(sections, parent, skeleton);
            }
        }
        let sections = self.split.as_ref().and_then(|split| split(skeleton.dwo_id));
        let sections = sections.ok_or(SplitProblem::Missing)?.map_err(SplitProblem::Failure)?;
        entries_in(with_sections_of(&sections, parent), parent, skeleton)
    }
}

/// The sections of a split file, and those that stayed in the object.
fn with_sections_of(split: &Sections, parent: &DebugInfo) -> Sections {
    let mut sections = split.clone();
    for id in [SectionId::DebugAddr, SectionId::DebugRanges] {
        sections.set(id, parent.sections.get(id).cloned().unwrap_or_default());
    }
    // The first of many units settles them, on sections that are whole.
    sections.limits();
    sections
}

/// The sections of the unit with this ID; `None` when the package lacks it.
fn part_of_package(
    package: &Sections,
    endian: RunTimeEndian,
    dwo_id: u64,
) -> Result<Option<Sections>, SymbolError> {
    let damaged = |reason| SymbolError::dwarf(".debug_cu_index", 0, "a sound index", reason);
    let index = Slice::new(package.bytes(SectionId::DebugCuIndex), endian);
    let index = DebugCuIndex::from(index).index().map_err(damaged)?;
    // An empty slot of the hash table has the ID 0 and the row 0.
    let Some(row) = index.find(dwo_id).filter(|row| *row != 0) else {
        return Ok(None);
    };
    let mut sections = package.clone();
    for part in index.sections(row).map_err(damaged)? {
        let id = part.section.section_id();
        let Some(section) = package.get(id) else {
            continue;
        };
        let data = section.part(part.offset, part.size).ok_or(SymbolError::Malformed {
            what: ".debug_cu_index",
            offset: 0,
            expected: "parts that lie inside of their sections",
        })?;
        sections.set(id, data);
    }
    Ok(Some(sections))
}

fn entries_in(
    sections: Sections,
    parent: &DebugInfo,
    skeleton: Skeleton,
) -> Result<SplitEntries, SplitProblem> {
    let failure = |error| SplitProblem::Failure(SplitFailure::Content(error));
    let info = DebugInfo::of_split_unit(sections, parent, skeleton).map_err(failure)?;
    let mut bytes_left = info.limits.split_bytes.meter();
    // To pass over a header is little work.
    bytes_left.take(info.units.len() as u64 / 64).ok_or(SplitProblem::TooMany)?;
    let scope = Scope::default();
    let dwarf = info.dwarf(&scope);
    let mut units = info.units.iter();
    let unit_index = units.position(|unit| unit.dwo_id(&info, &dwarf) == Some(skeleton.dwo_id));
    drop(dwarf);
    let unit_index = unit_index.ok_or(SplitProblem::OtherId)?;
    let size = info
        .units
        .get(unit_index)
        .map_or(0, |unit| unit.extent.len().saturating_add(unit.abbreviations.len()) as u64);
    bytes_left.take(size).ok_or(SplitProblem::TooMany)?;
    drop(bytes_left);
    Ok(SplitEntries { info, unit_index })
}
