//! One ELF file: what identifies it and what it holds.
//!
//! Headers, build ID and debug link are read on opening, sections when they are asked for.

use std::sync::Arc;

use crate::elf::alt_link::{AltLink, SupplementHeader};
use crate::elf::compression::{decompress_gnu, decompress_section};
use crate::elf::debug_link::DebugLink;
use crate::elf::encoded_numbers::c_string;
use crate::elf::executable_ranges::ExecutableRanges;
use crate::elf::header::{
    Headers, Section, Segment, ET_DYN, ET_EXEC, ET_REL, PF_X, PT_LOAD, SHF_COMPRESSED, SHT_SYMTAB,
};
use crate::elf::mini_debug_info::unpack;
use crate::elf::notes::find_build_id;
use crate::elf::relocatable::{is_code, lay_out};
use crate::elf::relocations::Relocations;
use crate::elf::section_data::{Failure, InFile, SectionData};
use crate::elf::symbol_sections::SymbolSections;
use crate::error::SymbolError;
use crate::sized_reads::{check_range, read_range};
use vestige_bytes::ReadAt;

/// Section names are short; a longer one is damage.
const MAX_SECTION_NAME: usize = 256;

/// A path and an ID are much smaller.
const MAX_ALT_LINK: u64 = 16 << 10;

/// Names of `e_machine` as tools write them.
const MACHINES: &[(u16, &str)] = &[
    (2, "sparc"),
    (3, "i386"),
    (8, "mips"),
    (20, "ppc"),
    (21, "ppc64"),
    (22, "s390"),
    (40, "arm"),
    (43, "sparc64"),
    (62, "x86-64"),
    (183, "aarch64"),
    (243, "riscv"),
    (258, "loongarch"),
];

/// An ELF object: executable, shared object, relocatable object or separate debug file.
pub struct ElfFile {
    source: Arc<dyn ReadAt>,
    /// Larger debug sections than these, in sum, stay in the file.
    memory_limit: u64,
    headers: Headers,
    relocations: Relocations,
    text: ExecutableRanges,
    build_id: Option<Vec<u8>>,
    debug_link: Option<DebugLink>,
    alt_link: Option<AltLink>,
    /// The checksum that a supplementary file of DWARF 5 states of itself.
    supplement_id: Option<Vec<u8>>,
}

impl ElfFile {
    /// Reads the headers, the build ID and the debug link of an object. Debug sections that
    /// are not compressed are read whole up to `memory_limit` bytes in sum.
    ///
    /// # Errors
    /// When the source is no ELF file, or its headers or the sections read
    /// here are cut or not well formed.
    pub fn with_memory_limit(
        source: Box<dyn ReadAt>,
        memory_limit: u64,
    ) -> Result<Self, SymbolError> {
        let source: Arc<dyn ReadAt> = Arc::from(source);
        let mut headers = Headers::read(source.as_ref())?;
        lay_out(&mut headers);
        let build_id = find_build_id(source.as_ref(), &headers);
        let text = ExecutableRanges::of(&headers);
        let mut object = Self {
            source,
            memory_limit,
            headers,
            relocations: Relocations::default(),
            text,
            build_id,
            debug_link: None,
            alt_link: None,
            supplement_id: None,
        };
        object.debug_link = object
            .section_data(b".gnu_debuglink")?
            .and_then(|data| DebugLink::parse(&data, object.headers.encoding));
        object.read_alt_link();
        Ok(object)
    }

    /// Reads the link to a supplementary file. A damaged one is as good as none: what is
    /// in the object itself can be used.
    fn read_alt_link(&mut self) {
        let data = |name| self.small_section(name, MAX_ALT_LINK);
        let header = data(b".debug_sup".as_slice())
            .and_then(|data| SupplementHeader::parse(&data, self.headers.encoding));
        let gnu = data(b".gnu_debugaltlink".as_slice()).and_then(|data| AltLink::parse(&data));
        match header {
            Some(header) if header.is_supplement => self.supplement_id = Some(header.link.id),
            header => self.alt_link = gnu.or(header.map(|header| header.link)),
        }
    }

    fn small_section(&self, name: &[u8], limit: u64) -> Option<Vec<u8>> {
        let section = self.find_section(name).filter(|section| section.size <= limit)?;
        self.read_section(section).ok()
    }

    /// Whether the object may be loaded at any address (`ET_DYN`), which is
    /// also how LTTng-UST decides its `is_pic` field.
    pub fn is_pic(&self) -> bool {
        self.headers.file_type == ET_DYN
    }

    /// Whether the object is an executable for fixed addresses (`ET_EXEC`).
    pub fn is_fixed_executable(&self) -> bool {
        self.headers.file_type == ET_EXEC
    }

    /// Whether the object is to be linked or loaded as a module (`ET_REL`). Its sections have
    /// the addresses of [`ElfFile::code_sections`], which are of this crate alone.
    pub fn is_relocatable(&self) -> bool {
        self.headers.file_type == ET_REL
    }

    /// Name, address and size of each section with code, in the order of the file.
    pub fn code_sections(&self) -> impl Iterator<Item = (&[u8], u64, u64)> {
        let sections = self.headers.sections.iter().filter(|one| is_code(one) && one.size > 0);
        sections.map(|one| (self.section_name(one), one.address, one.size))
    }

    /// The number of the machine (`e_machine`).
    pub fn machine(&self) -> u16 {
        self.headers.machine
    }

    /// Where the program begins (`e_entry`); 0 in most libraries.
    pub fn entry(&self) -> u64 {
        self.headers.entry
    }

    /// The name of the machine, or `machine-N` for one without a name here.
    pub fn machine_name(&self) -> String {
        let named = MACHINES.iter().find(|(number, _)| *number == self.headers.machine);
        match named {
            Some((_, name)) => (*name).to_owned(),
            None => format!("machine-{}", self.headers.machine),
        }
    }

    /// The width of an address: 32 or 64.
    pub fn bits(&self) -> u8 {
        if self.headers.encoding.is_64 {
            64
        } else {
            32
        }
    }

    /// Whether numbers are stored with the most significant byte first.
    pub fn is_big_endian(&self) -> bool {
        self.headers.encoding.big_endian
    }

    /// The program headers.
    pub fn segments(&self) -> &[Segment] {
        &self.headers.segments
    }

    /// The section headers.
    pub fn sections(&self) -> &[Section] {
        &self.headers.sections
    }

    /// The name of a section, as stored.
    pub fn section_name(&self, section: &Section) -> &[u8] {
        let offset = section.name as usize;
        c_string(&self.headers.section_names, offset, MAX_SECTION_NAME).unwrap_or_default()
    }

    /// The executable address ranges, as (start, end).
    pub fn text_ranges(&self) -> &[(u64, u64)] {
        &self.text.ranges
    }

    /// The build ID, when a note of the file holds one.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// The debug link, when the file has one.
    pub fn debug_link(&self) -> Option<&DebugLink> {
        self.debug_link.as_ref()
    }

    /// The link to a supplementary file, when the file has one.
    pub fn debug_alt_link(&self) -> Option<&AltLink> {
        self.alt_link.as_ref()
    }

    /// Whether this is the supplementary file that a link means.
    pub fn is_supplement_of(&self, link: &AltLink) -> bool {
        let ids = [self.supplement_id.as_deref(), self.build_id()];
        ids.into_iter().flatten().any(|id| id == link.id)
    }

    /// The symbols packed into `.gnu_debugdata`, as an object of their own; `None` when
    /// the file has none.
    ///
    /// # Errors
    /// When they cannot be unpacked.
    pub fn mini_debug_info(&self) -> Result<Option<Self>, SymbolError> {
        let Some(section) = self.find_section(b".gnu_debugdata") else {
            return Ok(None);
        };
        let data = unpack(&self.read_section(section)?, section.offset)?;
        Self::with_memory_limit(Box::new(data), self.memory_limit).map(Some)
    }

    /// The file address of what LTTng records as base address of the object.
    ///
    /// The state dump of LTTng-UST gives as `baddr` the load bias plus
    /// `p_vaddr` of the first `PT_LOAD` program header, without rounding
    /// (`extract_bin_info_events` in its state dump code). The gABI wants
    /// those headers in ascending order, so this is the lowest `p_vaddr`, not
    /// aligned down: rounding here would be an error for an object whose
    /// first segment does not start on a page. Then, for a
    /// position-independent object, file address = ip - baddr + link base; for
    /// another one the ip is the file address. (`lttng_ust_dl:dlopen` records
    /// the bias itself, `l_addr`: the same unless the object is linked at an
    /// address other than 0.)
    pub fn link_base(&self) -> u64 {
        let loads = self.headers.segments.iter().filter(|segment| segment.kind == PT_LOAD);
        loads.map(|segment| segment.address).min().unwrap_or(0)
    }

    /// `p_vaddr` of the first segment with code. In a file of the Linux kernel, whose lowest
    /// segment may be data at address 0, that is `_text`.
    pub fn text_base(&self) -> u64 {
        let has_code = |one: &&Segment| one.kind == PT_LOAD && one.flags & PF_X != 0;
        let found = self.headers.segments.iter().filter(has_code);
        found.map(|segment| segment.address).min().unwrap_or(0)
    }

    /// Whether the file holds a full symbol table (not only the dynamic one).
    pub fn has_symbol_table(&self) -> bool {
        let sections = &self.headers.sections;
        sections.iter().any(|section| section.kind == SHT_SYMTAB && section.has_bits())
    }

    /// The size of the file.
    pub(crate) fn size(&self) -> u64 {
        self.source.len()
    }

    pub(crate) fn headers(&self) -> &Headers {
        &self.headers
    }

    pub(crate) fn text(&self) -> &ExecutableRanges {
        &self.text
    }

    /// The section with this name that has bytes in the file.
    pub fn find_section(&self, name: &[u8]) -> Option<&Section> {
        self.numbered_section(name).map(|(_, section)| section)
    }

    fn numbered_section(&self, name: &[u8]) -> Option<(usize, &Section)> {
        let mut sections = self.headers.sections.iter().enumerate();
        sections.find(|(_, one)| one.has_bits() && self.section_name(one) == name)
    }

    /// The bytes of the section with this name, decompressed; `None` when the file lacks them.
    ///
    /// # Errors
    /// When the file is cut there, or they cannot be decompressed.
    pub fn section_data(&self, name: &[u8]) -> Result<Option<Vec<u8>>, SymbolError> {
        self.find_section(name).map(|section| self.read_section(section)).transpose()
    }

    /// The bytes of a section, decompressed when its flags say so.
    ///
    /// # Errors
    /// As for [`ElfFile::section_data`].
    pub fn read_section(&self, section: &Section) -> Result<Vec<u8>, SymbolError> {
        let data = read_range(self.source.as_ref(), "a section", section.offset, section.size)?;
        if section.flags & SHF_COMPRESSED == 0 {
            return Ok(data);
        }
        decompress_section(&data, self.headers.encoding, section.offset)
    }

    /// Which sections the symbols of a table are in, by its number.
    pub(crate) fn symbol_sections(&self, table: usize) -> Result<SymbolSections, SymbolError> {
        SymbolSections::read(self.source.as_ref(), &self.headers, table)
    }

    /// The size of a DWARF section that can stay in the file; `None` when there is none
    /// that is neither compressed nor to be relocated.
    pub(crate) fn dwarf_size(&self, name: &str) -> Option<u64> {
        let section = self.find_section(name.as_bytes())?;
        self.can_stay(section).then_some(section.size)
    }

    fn can_stay(&self, section: &Section) -> bool {
        section.flags & SHF_COMPRESSED == 0 && !self.is_relocatable()
    }

    /// A DWARF section that stays in the file; `None` when there is none that can. One that
    /// the file has not whole is an error, as if it were read.
    pub(crate) fn dwarf_in_file(
        &self,
        name: &str,
        failure: &Failure,
    ) -> Result<Option<SectionData>, SymbolError> {
        let found = self.find_section(name.as_bytes());
        let Some(section) = found.filter(|section| self.can_stay(section)) else {
            return Ok(None);
        };
        let (source, offset) = (Arc::clone(&self.source), section.offset);
        let size = check_range(source.as_ref(), "a section", offset, section.size)?;
        let file = InFile { source, offset, failure: Arc::clone(failure) };
        Ok(Some(SectionData::in_file(file, size)))
    }

    pub(crate) fn memory_limit(&self) -> u64 {
        self.memory_limit
    }

    /// The bytes of a DWARF section under its name or the old compressed one, relocated.
    pub(crate) fn dwarf_section(&self, name: &str) -> Result<Option<Vec<u8>>, SymbolError> {
        let old_name = name.replacen(".debug_", ".zdebug_", 1);
        for (name, is_old) in [(name, false), (old_name.as_str(), true)] {
            let Some((number, section)) = self.numbered_section(name.as_bytes()) else {
                continue;
            };
            let mut data = self.read_section(section)?;
            if is_old {
                data = decompress_gnu(&data, section.offset)?;
            }
            if self.is_relocatable() {
                let source = self.source.as_ref();
                self.relocations.apply(source, &self.headers, number, &mut data)?;
            }
            return Ok(Some(data));
        }
        Ok(None)
    }
}
