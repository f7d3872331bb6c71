//! The ELF file header, program headers and section headers.
//!
//! Follows the System V gABI, chapters "ELF Header", "Sections" and "Program
//! Header", with the escapes for counts that do not fit 16 bits.

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::error::SymbolError;
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

pub(crate) const MAGIC: [u8; 4] = *b"\x7fELF";
pub(crate) const ET_REL: u16 = 1;
pub(crate) const ET_EXEC: u16 = 2;
pub(crate) const ET_DYN: u16 = 3;
pub(crate) const PT_LOAD: u32 = 1;
pub(crate) const PT_NOTE: u32 = 4;
pub(crate) const PF_X: u32 = 1;
pub(crate) const SHT_SYMTAB: u32 = 2;
pub(crate) const SHT_NOTE: u32 = 7;
pub(crate) const SHT_NOBITS: u32 = 8;
pub(crate) const SHT_DYNSYM: u32 = 11;
pub(crate) const SHF_EXECINSTR: u64 = 0x4;
pub(crate) const SHF_COMPRESSED: u64 = 0x800;

const CLASS_32: u8 = 1;
const CLASS_64: u8 = 2;
const DATA_LITTLE: u8 = 1;
const DATA_BIG: u8 = 2;
const PN_XNUM: u16 = 0xffff;
const SHN_XINDEX: u16 = 0xffff;

/// Sizes of the fixed structures: (file header, program header, section header).
const SIZES_32: (u64, u64, u64) = (52, 32, 40);
const SIZES_64: (u64, u64, u64) = (64, 56, 64);

/// One program header: a part of the file, and where it goes in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    /// `p_type`.
    pub kind: u32,
    /// `p_flags`.
    pub flags: u32,
    /// `p_offset`.
    pub offset: u64,
    /// `p_vaddr`.
    pub address: u64,
    /// `p_filesz`.
    pub file_size: u64,
    /// `p_memsz`.
    pub memory_size: u64,
    /// `p_align`.
    pub alignment: u64,
}

/// One section header; its name is read by [`crate::ObjectFile::section_name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// `sh_name`: offset of the name in the section name table.
    pub name: u32,
    /// `sh_type`.
    pub kind: u32,
    /// `sh_flags`.
    pub flags: u64,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`.
    pub size: u64,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addralign`.
    pub alignment: u64,
    /// `sh_entsize`.
    pub entry_size: u64,
}

impl Section {
    /// Whether the file holds the section's bytes: debug files keep the
    /// headers of what they left out as `SHT_NOBITS`.
    pub fn has_bits(&self) -> bool {
        self.kind != SHT_NOBITS && self.size > 0
    }
}

/// The headers of one ELF file.
#[derive(Debug, Clone)]
pub(crate) struct Headers {
    pub(crate) encoding: Encoding,
    pub(crate) file_type: u16,
    pub(crate) machine: u16,
    pub(crate) entry: u64,
    pub(crate) segments: Vec<Segment>,
    pub(crate) sections: Vec<Section>,
    pub(crate) section_names: Vec<u8>,
}

/// Where a header table is and how its entries lie.
struct Table {
    what: &'static str,
    offset: u64,
    count: u64,
    stride: u64,
    entry_size: u64,
}

/// The fields of the file header that the other tables need.
struct FileHeader {
    file_type: u16,
    machine: u16,
    entry: u64,
    program_offset: u64,
    section_offset: u64,
    program_stride: u16,
    program_count: u16,
    section_stride: u16,
    section_count: u16,
    names_index: u16,
}

impl Headers {
    /// Reads the headers, and the section name table, of an ELF file.
    pub(crate) fn read(source: &dyn ReadAt) -> Result<Self, SymbolError> {
        let encoding = read_identification(source)?;
        let header = read_file_header(source, encoding)?;
        let first = read_first_section(source, encoding, &header)?;
        let sections = match &first {
            Some(first) => read_sections(source, encoding, &header, first)?,
            None => Vec::new(),
        };
        let segments = read_segments(source, encoding, &header, first.as_ref())?;
        let names_index = match (header.names_index, &first) {
            (SHN_XINDEX, Some(first)) => first.link,
            (index, _) => u32::from(index),
        };
        let section_names = match sections.get(names_index as usize) {
            Some(names) if names_index != 0 && names.has_bits() => {
                read_range(source, "the section name table", names.offset, names.size)?
            }
            _ => Vec::new(),
        };
        Ok(Self {
            encoding,
            file_type: header.file_type,
            machine: header.machine,
            entry: header.entry,
            segments,
            sections,
            section_names,
        })
    }
}

fn read_identification(source: &dyn ReadAt) -> Result<Encoding, SymbolError> {
    let size = source.len().min(16);
    let start = read_range(source, "the ELF identification", 0, size)?;
    if !start.starts_with(&MAGIC) {
        let found = start.into_iter().take(MAGIC.len()).collect();
        return Err(SymbolError::NotElf { found });
    }
    let malformed = |offset, expected| SymbolError::Malformed {
        what: "the ELF identification",
        offset,
        expected,
    };
    let is_64 = match start.get(4) {
        Some(&CLASS_32) => false,
        Some(&CLASS_64) => true,
        _ => return Err(malformed(4, "class 1 (32 bits) or 2 (64 bits)")),
    };
    let big_endian = match start.get(5) {
        Some(&DATA_LITTLE) => false,
        Some(&DATA_BIG) => true,
        _ => return Err(malformed(5, "byte order 1 (little) or 2 (big)")),
    };
    Ok(Encoding { big_endian, is_64 })
}

fn sizes(encoding: Encoding) -> (u64, u64, u64) {
    if encoding.is_64 {
        SIZES_64
    } else {
        SIZES_32
    }
}

fn read_file_header(source: &dyn ReadAt, encoding: Encoding) -> Result<FileHeader, SymbolError> {
    let what = "the ELF file header";
    let data = read_range(source, what, 0, sizes(encoding).0)?;
    parse_file_header(&data, encoding).ok_or(SymbolError::Truncated {
        what,
        offset: 0,
        expected: sizes(encoding).0,
        available: data.len() as u64,
    })
}

fn parse_file_header(data: &[u8], encoding: Encoding) -> Option<FileHeader> {
    let mut cursor = Cursor::new(data, encoding);
    cursor.bytes(16)?;
    let (file_type, machine) = (cursor.u16()?, cursor.u16()?);
    let (_version, entry) = (cursor.u32()?, cursor.word()?);
    let (program_offset, section_offset) = (cursor.word()?, cursor.word()?);
    let (_flags, _header_size) = (cursor.u32()?, cursor.u16()?);
    Some(FileHeader {
        file_type,
        machine,
        entry,
        program_offset,
        section_offset,
        program_stride: cursor.u16()?,
        program_count: cursor.u16()?,
        section_stride: cursor.u16()?,
        section_count: cursor.u16()?,
        names_index: cursor.u16()?,
    })
}

/// The section header 0, which holds the counts that do not fit the file header.
fn read_first_section(
    source: &dyn ReadAt,
    encoding: Encoding,
    header: &FileHeader,
) -> Result<Option<Section>, SymbolError> {
    if header.section_offset == 0 {
        return Ok(None);
    }
    let table = section_table(encoding, header, 1);
    Ok(read_table(source, &table, |entry| parse_section(entry, encoding))?.pop())
}

fn section_table(encoding: Encoding, header: &FileHeader, count: u64) -> Table {
    Table {
        what: "the section header table",
        offset: header.section_offset,
        count,
        stride: u64::from(header.section_stride),
        entry_size: sizes(encoding).2,
    }
}

fn read_sections(
    source: &dyn ReadAt,
    encoding: Encoding,
    header: &FileHeader,
    first: &Section,
) -> Result<Vec<Section>, SymbolError> {
    let count = match header.section_count {
        0 => first.size,
        count => u64::from(count),
    };
    let table = section_table(encoding, header, count);
    read_table(source, &table, |entry| parse_section(entry, encoding))
}

fn read_segments(
    source: &dyn ReadAt,
    encoding: Encoding,
    header: &FileHeader,
    first: Option<&Section>,
) -> Result<Vec<Segment>, SymbolError> {
    let count = match (header.program_count, first) {
        (PN_XNUM, Some(first)) => u64::from(first.info),
        (count, _) => u64::from(count),
    };
    if header.program_offset == 0 || count == 0 {
        return Ok(Vec::new());
    }
    let table = Table {
        what: "the program header table",
        offset: header.program_offset,
        count,
        stride: u64::from(header.program_stride),
        entry_size: sizes(encoding).1,
    };
    read_table(source, &table, |entry| parse_segment(entry, encoding))
}

fn read_table<T>(
    source: &dyn ReadAt,
    table: &Table,
    parse: impl Fn(&[u8]) -> Option<T>,
) -> Result<Vec<T>, SymbolError> {
    if table.stride < table.entry_size {
        return Err(SymbolError::Malformed {
            what: table.what,
            offset: table.offset,
            expected: "entries at least as large as the ELF class defines",
        });
    }
    let size = table.count.saturating_mul(table.stride);
    let data = read_range(source, table.what, table.offset, size)?;
    // A stride has 16 bits in the file header: the cast keeps it.
    Ok(data.chunks_exact(table.stride as usize).filter_map(parse).collect())
}

fn parse_segment(entry: &[u8], encoding: Encoding) -> Option<Segment> {
    let mut cursor = Cursor::new(entry, encoding);
    let kind = cursor.u32()?;
    let early_flags = if encoding.is_64 { cursor.u32()? } else { 0 };
    let (offset, address, _physical) = (cursor.word()?, cursor.word()?, cursor.word()?);
    let (file_size, memory_size) = (cursor.word()?, cursor.word()?);
    let flags = if encoding.is_64 { early_flags } else { cursor.u32()? };
    let alignment = cursor.word()?;
    Some(Segment { kind, flags, offset, address, file_size, memory_size, alignment })
}

fn parse_section(entry: &[u8], encoding: Encoding) -> Option<Section> {
    let mut cursor = Cursor::new(entry, encoding);
    Some(Section {
        name: cursor.u32()?,
        kind: cursor.u32()?,
        flags: cursor.word()?,
        address: cursor.word()?,
        offset: cursor.word()?,
        size: cursor.word()?,
        link: cursor.u32()?,
        info: cursor.u32()?,
        alignment: cursor.word()?,
        entry_size: cursor.word()?,
    })
}
