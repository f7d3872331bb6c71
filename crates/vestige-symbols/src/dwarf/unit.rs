//! One unit of `.debug_info`, decoded as far as lookups have needed it.
//!
//! Follows DWARF 5, sections 3.1 (unit entries) and 7.5.1 (unit headers).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use gimli::{
    Abbreviations, AttributeValue, DebugAbbrevOffset, DebugAddrBase, DebugInfoOffset,
    DebugLineOffset, DebugLocListsBase, DebugRngListsBase, DebugStrOffsetsBase, DwarfFileType,
    DwoId, Encoding, SectionId, UnitHeader, UnitOffset, UnitSectionOffset, UnitType,
};

use crate::budget::Meter;
use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::decoder::{GimliUnit, GimliUnitHeader, Slice};
use crate::dwarf::entry::{address, DieAttributes, MAX_ATTRIBUTES};
use crate::dwarf::functions::{FunctionReader, SourceFiles};
use crate::dwarf::line_table::LineTable;
use crate::dwarf::origins::DiePlace;
use crate::dwarf::source_paths::SourcePaths;
use crate::dwarf::split_unit::{Skeleton, SplitEntries, SplitProblem, SplitUnit};
use crate::dwarf::strings::{offset_in, StringPosition};
use crate::dwarf::unit_head::{header_of, UnitHead};
use crate::dwarf::view::{Dwarf, Scope};
use crate::index::unit_table::{UnitTable, UnitTableWriter};

/// A unit: where it is, and what has been decoded of it.
#[derive(Debug)]
pub(crate) struct Unit {
    /// The bytes of the unit in `.debug_info`, header included.
    pub(crate) extent: Range<usize>,
    /// The bytes of its abbreviations in `.debug_abbrev`.
    pub(crate) abbreviations: Range<usize>,
    /// Whether its root entry may cover code (type units and partial units do not).
    pub(crate) may_have_code: bool,
    root: OnceLock<Option<UnitRoot>>,
    table: OnceLock<UnitTable>,
    /// Whether the table was decoded, and has not been taken to an index.
    is_fresh: AtomicBool,
}

/// What the root entry says that holds for the whole unit.
#[derive(Debug)]
pub(crate) struct UnitRoot {
    abbreviations: Arc<Abbreviations>,
    encoding: Encoding,
    header_size: usize,
    low_pc: u64,
    str_offsets_base: DebugStrOffsetsBase<usize>,
    addr_base: DebugAddrBase<usize>,
    rnglists_base: DebugRngListsBase<usize>,
    pub(crate) line_program: Option<DebugLineOffset<usize>>,
    pub(crate) directory: Option<StringPosition>,
    /// Whether it holds what other units import, and no code of its own.
    is_partial: bool,
    dwo_id: Option<u64>,
    dwo_name: Option<StringPosition>,
}

impl Unit {
    /// A unit of which only the header is known; the end of the abbreviations is set later.
    pub(crate) fn new(start: usize, head: &UnitHead<'_>) -> Option<Self> {
        let header = head.header().ok()?;
        let end = start.checked_add(head.unit_size)?;
        let abbreviations = header.debug_abbrev_offset().0;
        Some(Self {
            extent: start..end,
            abbreviations: abbreviations..abbreviations,
            may_have_code: matches!(header.type_(), UnitType::Compilation | UnitType::Skeleton(_)),
            root: OnceLock::new(),
            table: OnceLock::new(),
            is_fresh: AtomicBool::new(false),
        })
    }

    /// The decoder's view of the unit; `None` when its header or root entry is damaged.
    pub(crate) fn open<'a>(
        &'a self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit_index: usize,
    ) -> Option<GimliUnit<'a>> {
        let bytes = dwarf.unit_bytes(unit_index, &self.extent)?;
        self.open_in(info, dwarf, header_of(bytes, info.endian).ok()?)
    }

    /// The decoder's view of the unit with an entry of it, and the entry's offset in that view,
    /// where `None` is its start. Of a unit that stays in the file it has this entry alone.
    pub(crate) fn open_at<'a>(
        &'a self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        place: DiePlace,
    ) -> Option<(GimliUnit<'a>, Option<UnitOffset>)> {
        if let Some(unit) = dwarf.known_unit_bytes(place.unit_index, &self.extent) {
            let unit = self.open_in(info, dwarf, header_of(unit, info.endian).ok()?)?;
            return Some((unit, Some(place.offset)));
        }
        let root = self.root(info, dwarf)?;
        if place.offset.0 < root.header_size {
            return None;
        }
        let start = self.extent.start.checked_add(place.offset.0)?;
        let left = self.extent.end.checked_sub(start).filter(|left| *left > 0)?;
        let bytes = dwarf.info_at(start)?;
        let bytes = bytes.get(..left).unwrap_or(bytes);
        let header = UnitHeader::new(
            root.encoding,
            bytes.len(),
            UnitType::Compilation,
            DebugAbbrevOffset(self.abbreviations.start),
            UnitSectionOffset::DebugInfoOffset(DebugInfoOffset(0)),
            Slice::new(bytes, info.endian),
        );
        Some((self.open_in(info, dwarf, header)?, None))
    }

    fn open_in<'a>(
        &self,
        info: &DebugInfo,
        dwarf: &Dwarf<'_>,
        header: GimliUnitHeader<'a>,
    ) -> Option<GimliUnit<'a>> {
        let root = self.root(info, dwarf)?;
        let mut unit = bare_unit(header, Arc::clone(&root.abbreviations), dwarf.file_type);
        unit.low_pc = root.low_pc;
        unit.str_offsets_base = root.str_offsets_base;
        unit.addr_base = root.addr_base;
        unit.rnglists_base = root.rnglists_base;
        Some(unit)
    }

    pub(crate) fn root(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> Option<&UnitRoot> {
        self.root.get_or_init(|| self.read_root(info, dwarf)).as_ref()
    }

    /// The table of the unit, decoded at the first call.
    pub(crate) fn table(&self, info: &DebugInfo, unit_index: usize) -> &UnitTable {
        self.table.get_or_init(|| {
            if let Some(stored) = info.stored_table(unit_index) {
                return stored;
            }
            self.is_fresh.store(true, Ordering::Relaxed);
            let mut writer = UnitTableWriter::default();
            let scope = Scope::default();
            let dwarf = info.dwarf(&scope);
            // What is damaged is left out.
            let _ = self.write(info, &dwarf, unit_index, &mut writer);
            writer.finish()
        })
    }

    /// The table, when it has been decoded and this was not asked since.
    pub(crate) fn take_fresh(&self) -> Option<&UnitTable> {
        let table = self.table.get()?;
        self.is_fresh.swap(false, Ordering::Relaxed).then_some(table)
    }

    fn write<'a>(
        &'a self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit_index: usize,
        writer: &mut UnitTableWriter,
    ) -> Option<()> {
        let unit = self.open(info, dwarf, unit_index)?;
        let directory = self.root(info, dwarf)?.directory;
        let directory = directory.and_then(|position| position.read(dwarf));
        let lines = self.lines(info, dwarf);
        let mut paths = SourcePaths::new(directory, info.limits.string_bytes.meter());
        lines.write(dwarf, &mut paths, writer);
        let files = SourceFiles { dwarf, lines: &lines, paths: &mut paths };
        if let Some(split) = self.split_entries(info, dwarf) {
            let scope = Scope::default();
            let (dwarf, unit_index) = (split.info.dwarf(&scope), split.unit_index);
            let unit = split.info.units.get(unit_index)?.open(&split.info, &dwarf, unit_index)?;
            FunctionReader::new(&split.info, &dwarf, (unit_index, &unit), files, writer).read();
            if split.info.limits.is_spent() || split.info.sections.failure().is_some() {
                self.is_fresh.store(false, Ordering::Relaxed);
            }
        } else {
            FunctionReader::new(info, dwarf, (unit_index, &unit), files, writer).read();
        }
        Some(())
    }

    /// The line table of the unit; empty when it is damaged.
    pub(crate) fn lines<'a>(&'a self, info: &'a DebugInfo, dwarf: &Dwarf<'a>) -> LineTable {
        let table = || {
            let head = self.head(info)?;
            let unit = self.open_in(info, dwarf, head.header().ok()?)?;
            let program = self.root(info, dwarf)?.line_program?;
            let bounds = (&info.limits.line_bytes, &info.text);
            LineTable::read(bounds, dwarf, &unit, program)
        };
        table().unwrap_or_default()
    }

    /// The ranges of code that the root entry states.
    pub(crate) fn code_ranges<'a>(
        &'a self,
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        meter: &mut Meter<'_>,
    ) -> Option<Vec<(u64, u64)>> {
        let ranges = |head: &UnitHead<'_>| {
            let unit = self.open_in(info, dwarf, head.header().ok()?)?;
            let root = DieAttributes::at(&unit, None)?;
            root.code_ranges(dwarf, &unit, &info.text, meter)
        };
        self.with_root(info, ranges)
    }

    /// Whether the root entry says that the unit has no code of its own.
    pub(crate) fn is_partial(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> bool {
        self.root(info, dwarf).is_some_and(|root| root.is_partial)
    }

    /// What a skeleton unit and its split unit have in common.
    pub(crate) fn dwo_id(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> Option<u64> {
        self.root(info, dwarf)?.dwo_id
    }

    /// What is known of the split unit when this one is its skeleton.
    pub(crate) fn split_unit(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> Option<SplitUnit> {
        let root = self.root(info, dwarf)?;
        let text = |position: StringPosition| position.read(dwarf).map(<[u8]>::to_vec);
        Some(SplitUnit {
            dwo_id: root.dwo_id?,
            name: root.dwo_name.and_then(text)?,
            directory: root.directory.and_then(text).unwrap_or_default(),
        })
    }

    /// The entries of the split unit that this one is the skeleton of.
    fn split_entries(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> Option<SplitEntries> {
        // A split unit has no other split unit.
        if info.skeleton.is_some() {
            return None;
        }
        let unit = self.split_unit(info, dwarf)?;
        let root = self.root(info, dwarf)?;
        let skeleton = Skeleton {
            dwo_id: unit.dwo_id,
            low_pc: root.low_pc,
            addr_base: root.addr_base,
            ranges_base: root.rnglists_base,
        };
        let found = match info.companions() {
            Some(companions) => companions.entries(info, skeleton),
            None => Err(SplitProblem::Missing),
        };
        let note = |problem: &SplitProblem| {
            let (id, name) = (unit.dwo_id, String::from_utf8_lossy(&unit.name));
            // What is not whole is not for an index.
            self.is_fresh.store(false, Ordering::Relaxed);
            info.add_problem(format!("split unit {id:#018x} ({name}): {problem}"));
        };
        found.inspect_err(note).ok()
    }

    fn head<'a>(&self, info: &'a DebugInfo) -> Option<UnitHead<'a>> {
        let section = info.sections.get(SectionId::DebugInfo)?;
        if let Some(bytes) = section.in_memory() {
            let bytes = bytes.get(self.extent.clone())?;
            return Some(UnitHead::whole(Cow::Borrowed(bytes), info.endian));
        }
        UnitHead::read(section, self.extent.start, info.endian).ok()
    }

    /// What `read` makes of the head of the unit, or of all of it where the root entry goes on.
    fn with_root<T>(
        &self,
        info: &DebugInfo,
        mut read: impl FnMut(&UnitHead<'_>) -> Option<T>,
    ) -> Option<T> {
        let head = self.head(info)?;
        let found = read(&head);
        if found.is_some() || head.is_whole() {
            return found;
        }
        let bytes = info.sections.get(SectionId::DebugInfo)?.read(&self.extent)?;
        read(&UnitHead::whole(bytes, info.endian))
    }

    fn read_root(&self, info: &DebugInfo, dwarf: &Dwarf<'_>) -> Option<UnitRoot> {
        let abbreviations = info.abbreviations(dwarf, &self.abbreviations)?;
        self.with_root(info, |head| {
            let mut unit =
                bare_unit(head.header().ok()?, Arc::clone(&abbreviations), dwarf.file_type);
            if let Some(skeleton) = &info.skeleton {
                unit.addr_base = skeleton.addr_base;
                unit.low_pc = skeleton.low_pc;
                if unit.header.version() < 5 {
                    unit.rnglists_base = skeleton.ranges_base;
                }
            }
            let inline = |text: &Slice<'_>| {
                let offset = offset_in(head.bytes(), text)?.checked_add(self.extent.start)?;
                Some(StringPosition::Info(offset))
            };
            RootAttributes::read(&unit)?.finish(dwarf, unit, inline)
        })
    }
}

fn bare_unit<'a>(
    header: GimliUnitHeader<'a>,
    abbreviations: Arc<Abbreviations>,
    file: DwarfFileType,
) -> GimliUnit<'a> {
    let encoding = header.encoding();
    GimliUnit {
        header,
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, file),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, file),
        line_program: None,
        dwo_id: None,
    }
}

/// The attributes of a root entry that only make sense together.
#[derive(Default)]
struct RootAttributes<'a> {
    low_pc: Option<AttributeValue<Slice<'a>>>,
    directory: Option<AttributeValue<Slice<'a>>>,
    line_program: Option<DebugLineOffset<usize>>,
    str_offsets_base: Option<DebugStrOffsetsBase<usize>>,
    addr_base: Option<DebugAddrBase<usize>>,
    rnglists_base: Option<DebugRngListsBase<usize>>,
    is_partial: bool,
    dwo_id: Option<DwoId>,
    dwo_name: Option<AttributeValue<Slice<'a>>>,
}

impl<'a> RootAttributes<'a> {
    fn read(unit: &GimliUnit<'a>) -> Option<Self> {
        let mut raw = unit.entries_raw(None).ok()?;
        let abbreviation = raw.read_abbreviation().ok()??;
        if abbreviation.attributes().len() > MAX_ATTRIBUTES {
            return None;
        }
        let is_partial = abbreviation.tag() == gimli::DW_TAG_partial_unit;
        let mut found = Self { is_partial, ..Self::default() };
        if let UnitType::Skeleton(id) | UnitType::SplitCompilation(id) = unit.header.type_() {
            found.dwo_id = Some(id);
        }
        for specification in abbreviation.attributes() {
            let attribute = raw.read_attribute(*specification).ok()?;
            found.set(attribute.name(), attribute.value());
        }
        Some(found)
    }

    fn set(&mut self, name: gimli::DwAt, value: AttributeValue<Slice<'a>>) {
        match (name, value) {
            (gimli::DW_AT_low_pc, value) => self.low_pc = Some(value),
            (gimli::DW_AT_comp_dir, value) => self.directory = Some(value),
            (gimli::DW_AT_dwo_name | gimli::DW_AT_GNU_dwo_name, value) => {
                self.dwo_name = Some(value);
            }
            (gimli::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => {
                self.dwo_id = self.dwo_id.or(Some(id));
            }
            (gimli::DW_AT_stmt_list, AttributeValue::DebugLineRef(offset)) => {
                self.line_program = Some(offset);
            }
            (_, AttributeValue::DebugStrOffsetsBase(base)) => self.str_offsets_base = Some(base),
            (_, AttributeValue::DebugAddrBase(base)) => self.addr_base = Some(base),
            (_, AttributeValue::DebugRngListsBase(base)) => self.rnglists_base = Some(base),
            _ => {}
        }
    }

    /// Evaluates what depends on the bases, which may come after it.
    fn finish(
        self,
        dwarf: &Dwarf<'a>,
        mut unit: GimliUnit<'a>,
        inline: impl Fn(&Slice<'a>) -> Option<StringPosition>,
    ) -> Option<UnitRoot> {
        unit.str_offsets_base = self.str_offsets_base.unwrap_or(unit.str_offsets_base);
        unit.addr_base = self.addr_base.unwrap_or(unit.addr_base);
        unit.rnglists_base = self.rnglists_base.unwrap_or(unit.rnglists_base);
        let position = |value| StringPosition::of(dwarf, &unit, value, &inline);
        Some(UnitRoot {
            low_pc: address(dwarf, &unit, self.low_pc.as_ref()).unwrap_or(unit.low_pc),
            str_offsets_base: unit.str_offsets_base,
            addr_base: unit.addr_base,
            rnglists_base: unit.rnglists_base,
            line_program: self.line_program,
            directory: self.directory.and_then(position),
            is_partial: self.is_partial,
            dwo_id: self.dwo_id.map(|id| id.0),
            dwo_name: self.dwo_name.and_then(position),
            encoding: unit.header.encoding(),
            header_size: unit.header.header_size(),
            abbreviations: unit.abbreviations,
        })
    }
}
