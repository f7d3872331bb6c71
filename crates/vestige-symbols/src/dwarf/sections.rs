//! The debug sections of one object that lookups need.

use std::sync::{Arc, OnceLock};

use gimli::{EndianSlice, RunTimeEndian, SectionId};
use rayon::prelude::*;

use crate::dwarf::decoder::Slice;
use crate::dwarf::limits::Limits;
use crate::elf::elf_file::ElfFile;
use crate::elf::section_data::{Failure, SectionData};
use crate::error::SymbolError;
use vestige_workers::on_all_cores;

/// The sections that lookups need. Location lists and types, the largest
/// others, are never read.
const SECTIONS: &[SectionId] = &[
    SectionId::DebugInfo,
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// The sections of split debug information, and the index of a package of it.
const SPLIT_SECTIONS: &[SectionId] = &[
    SectionId::DebugAbbrev,
    SectionId::DebugCuIndex,
    SectionId::DebugInfo,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Sections that stay in a large file: they grow with it, and a look-up needs little of them.
const LARGE_SECTIONS: &[SectionId] = &[
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Sections by what they hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sections {
    list: Vec<(SectionId, SectionData)>,
    failure: Failure,
    /// Shared by all units of a file of split units, whose sizes bound them.
    limits: Arc<OnceLock<Arc<Limits>>>,
}

impl Sections {
    /// Reads the sections of an executable, a shared object or a debug file.
    pub(crate) fn load(object: &ElfFile) -> Result<Self, SymbolError> {
        Self::read(object, SECTIONS, |id| Some(id.name()))
    }

    /// Reads the sections of a `.dwo` file or a package.
    pub(crate) fn load_split(object: &ElfFile) -> Result<Self, SymbolError> {
        Self::read(object, SPLIT_SECTIONS, SectionId::dwo_name)
    }

    /// Reads sections, those that are compressed on all cores.
    fn read(
        object: &ElfFile,
        wanted: &[SectionId],
        name: fn(SectionId) -> Option<&'static str>,
    ) -> Result<Self, SymbolError> {
        let failure = Failure::default();
        let names = wanted.iter().filter_map(|id| name(*id));
        let size = names.filter_map(|name| object.dwarf_size(name)).fold(0, u64::saturating_add);
        let is_large = size > object.memory_limit();
        let read = |id: &SectionId| {
            let name = name(*id).unwrap_or_default();
            if is_large && LARGE_SECTIONS.contains(id) {
                if let Some(data) = object.dwarf_in_file(name, &failure)? {
                    return Ok(Some(data));
                }
            }
            Ok(object.dwarf_section(name)?.map(SectionData::from))
        };
        let load = |id: &SectionId| Some(read(id).transpose()?.map(|data| (*id, data)));
        let loaded: Result<_, _> =
            on_all_cores(|| wanted.par_iter().with_max_len(1).filter_map(load).collect());
        loaded.map(|list| Self { list, failure, ..Self::default() })
    }

    pub(crate) fn set(&mut self, id: SectionId, data: SectionData) {
        self.list.retain(|(known, _)| *known != id);
        self.list.push((id, data));
    }

    pub(crate) fn get(&self, id: SectionId) -> Option<&SectionData> {
        self.list.iter().find_map(|(known, data)| (*known == id).then_some(data))
    }

    /// Why something could not be read of a section that stays in the file.
    pub(crate) fn failure(&self) -> Option<&SymbolError> {
        self.failure.get()
    }

    /// The size of a section, wherever it is.
    pub(crate) fn size(&self, id: SectionId) -> usize {
        self.get(id).map_or(0, SectionData::size)
    }

    /// The bytes of a section that is in memory.
    pub(crate) fn bytes(&self, id: SectionId) -> &[u8] {
        self.get(id).map(|data| &**data).unwrap_or_default()
    }

    /// The decoder's view of the sections in memory.
    pub(crate) fn dwarf(&self, endian: RunTimeEndian) -> gimli::Dwarf<Slice<'_>> {
        let slice =
            |id| Ok::<_, std::convert::Infallible>(EndianSlice::new(self.bytes(id), endian));
        let Ok(dwarf) = gimli::Dwarf::load(slice);
        dwarf
    }

    /// What may be done with these sections and with all parts of them.
    pub(crate) fn limits(&self) -> Arc<Limits> {
        Arc::clone(self.limits.get_or_init(|| Arc::new(Limits::of(|id| self.size(id)))))
    }
}
