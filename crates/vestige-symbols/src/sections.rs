//! The debug sections of one object that lookups need.

use std::sync::{Arc, OnceLock};

use gimli::{EndianSlice, RunTimeEndian, SectionId};
use rayon::prelude::*;

use crate::debug_info::{Dwarf, Limits};
use crate::error::SymbolError;
use crate::object_file::ObjectFile;
use crate::section_data::SectionData;
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

/// Sections by what they hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sections {
    list: Vec<(SectionId, SectionData)>,
    /// Shared by all units of a file of split units, whose sizes bound them.
    limits: Arc<OnceLock<Arc<Limits>>>,
}

impl Sections {
    /// Reads the sections of an executable, a shared object or a debug file.
    pub(crate) fn load(object: &ObjectFile) -> Result<Self, SymbolError> {
        Self::read(object, SECTIONS, |id| Some(id.name()))
    }

    /// Reads the sections of a `.dwo` file or a package.
    pub(crate) fn load_split(object: &ObjectFile) -> Result<Self, SymbolError> {
        Self::read(object, SPLIT_SECTIONS, SectionId::dwo_name)
    }

    /// Reads sections, those that are compressed on all cores.
    fn read(
        object: &ObjectFile,
        wanted: &[SectionId],
        name: fn(SectionId) -> Option<&'static str>,
    ) -> Result<Self, SymbolError> {
        let load = |id: &SectionId| {
            let data = object.dwarf_section(name(*id).unwrap_or_default()).transpose()?;
            Some(data.map(|data| (*id, SectionData::from(data))))
        };
        let loaded: Result<_, _> =
            on_all_cores(|| wanted.par_iter().with_max_len(1).filter_map(load).collect());
        loaded.map(|list| Self { list, ..Self::default() })
    }

    pub(crate) fn set(&mut self, id: SectionId, data: SectionData) {
        self.list.retain(|(known, _)| *known != id);
        self.list.push((id, data));
    }

    pub(crate) fn get(&self, id: SectionId) -> Option<&SectionData> {
        self.list.iter().find_map(|(known, data)| (*known == id).then_some(data))
    }

    pub(crate) fn bytes(&self, id: SectionId) -> &[u8] {
        self.get(id).map(|data| &**data).unwrap_or_default()
    }

    /// The decoder's view.
    pub(crate) fn dwarf(&self, endian: RunTimeEndian) -> Dwarf<'_> {
        let slice =
            |id| Ok::<_, std::convert::Infallible>(EndianSlice::new(self.bytes(id), endian));
        let Ok(dwarf) = Dwarf::load(slice);
        dwarf
    }

    /// What may be done with these sections and with all parts of them.
    pub(crate) fn limits(&self, endian: RunTimeEndian) -> Arc<Limits> {
        Arc::clone(self.limits.get_or_init(|| Arc::new(Limits::of(&self.dwarf(endian)))))
    }
}
