//! The table by which programs of Go name their own functions and lines: `.gopclntab`.
//!
//! The run-time system needs it for its tracebacks, so it stays when a program is stripped.
//! Layouts and magic numbers as in Go's package `debug/gosym` and `runtime/symtab.go`, for
//! Go 1.2, 1.16, 1.18 and 1.20 onwards.

use std::sync::Arc;

use crate::answer::Location;
use crate::elf::elf_file::ElfFile;
use crate::elf::encoded_numbers::{c_string, Cursor, Encoding};
use crate::elf::header::{Section, SHT_NOBITS};
use crate::error::SymbolError;

/// The section, also where the linker has to relocate it.
const SECTIONS: [&[u8]; 2] = [b".gopclntab", b".data.rel.ro.gopclntab"];
const SHT_RELA: u32 = 4;
/// As for the names of symbols.
const MAX_NAME: usize = 16 << 10;
/// The steps of the largest functions are some ten thousand.
const MAX_STEPS: usize = 1 << 20;
/// A path and a line, and the end of a table of steps.
const NOT_KNOWN: i32 = -1;

/// Which layout the table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    Go2,
    Go16,
    Go18,
    Go20,
}

/// The functions, files and lines of a program of Go.
#[derive(Debug)]
pub(crate) struct GoLineTable {
    data: Vec<u8>,
    encoding: Encoding,
    version: Version,
    /// The least size of an instruction, in which steps are counted.
    quantum: u64,
    pointer: usize,
    /// How many functions there are.
    functions: usize,
    /// What entries count from; 0 where they are addresses.
    text: u64,
    /// Offsets of the parts in the table.
    names: usize,
    units: usize,
    files: usize,
    steps: usize,
    index: usize,
}

/// One function: where it begins, and where its description is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GoFunction {
    /// The address of its entry.
    pub(crate) entry: u64,
    description: usize,
}

impl GoLineTable {
    /// Reads the table of the first object that has one; `None` when none has.
    ///
    /// # Errors
    /// When a table is there and cannot be read, or is of no known layout.
    pub(crate) fn read(objects: &[&ElfFile]) -> Result<Option<Self>, SymbolError> {
        for object in objects {
            let found = SECTIONS.iter().find_map(|name| object.find_section(name));
            if let Some(section) = found.filter(|section| section.kind != SHT_NOBITS) {
                return Self::of_section(object, section).map(Some);
            }
        }
        Ok(None)
    }

    fn of_section(object: &ElfFile, section: &Section) -> Result<Self, SymbolError> {
        let malformed = SymbolError::Malformed {
            what: "the line table of Go",
            offset: section.offset,
            expected: "a header of Go 1.2 or newer",
        };
        let data = object.read_section(section)?;
        let encoding = object.headers().encoding;
        let mut table = Self::parse(data, encoding).ok_or(malformed)?;
        if table.version >= Version::Go18 {
            table.text = text_start(object, section, &table);
        }
        Ok(table)
    }

    /// Reads the header, but for the beginning of the text.
    fn parse(data: Vec<u8>, encoding: Encoding) -> Option<Self> {
        let mut header = Cursor::new(&data, encoding);
        let version = match header.u32()? {
            0xffff_fffb => Version::Go2,
            0xffff_fffa => Version::Go16,
            0xffff_fff0 => Version::Go18,
            0xffff_fff1 => Version::Go20,
            _ => return None,
        };
        let padding = header.u16()?;
        let (quantum, pointer) = (header.u8()?, usize::from(header.u8()?));
        if padding != 0 || !matches!(quantum, 1 | 2 | 4) || !matches!(pointer, 4 | 8) {
            return None;
        }
        let header_size = 8;
        let mut words = Words { cursor: header, is_wide: pointer == 8 };
        let functions = words.next()?;
        let mut table = Self {
            encoding,
            version,
            quantum: u64::from(quantum),
            pointer,
            functions,
            text: 0,
            names: 0,
            units: 0,
            files: 0,
            steps: 0,
            index: header_size + pointer,
            data: Vec::new(),
        };
        if version == Version::Go2 {
            // The offset of the files follows the index, which has an end of its own.
            let end = functions.checked_mul(2 * pointer)?.checked_add(pointer)?;
            let mut after = Cursor::new(data.get(table.index.checked_add(end)?..)?, encoding);
            table.files = after.u32()? as usize;
        } else {
            let _file_count = words.next()?;
            if version >= Version::Go18 {
                table.text = words.next()? as u64;
            }
            table.names = words.next()?;
            table.units = words.next()?;
            table.files = words.next()?;
            table.steps = words.next()?;
            table.index = words.next()?;
        }
        table.data = data;
        // A count that the section has no room for would be searched for nothing.
        table.entry(functions).map(|_| table)
    }

    /// The size of a number in the index.
    fn index_width(&self) -> usize {
        if self.version >= Version::Go18 {
            4
        } else {
            self.pointer
        }
    }

    /// A number at an offset, as wide as those in the index.
    fn index_number(&self, offset: usize) -> Option<u64> {
        let mut cursor = Cursor::new(self.data.get(offset..)?, self.encoding);
        if self.index_width() == 4 {
            cursor.u32().map(u64::from)
        } else {
            cursor.u64()
        }
    }

    /// Where a function begins; the one after the last is the end of the text.
    fn entry(&self, number: usize) -> Option<u64> {
        let width = self.index_width();
        let offset = number.checked_mul(2 * width)?.checked_add(self.index)?;
        Some(self.index_number(offset)?.wrapping_add(self.text))
    }

    fn u32_at(&self, offset: usize) -> Option<u32> {
        Cursor::new(self.data.get(offset..)?, self.encoding).u32()
    }

    /// The function that covers an address.
    pub(crate) fn covering(&self, address: u64) -> Option<GoFunction> {
        let (mut low, mut high) = (0, self.functions);
        if self.functions == 0 || address >= self.entry(self.functions)? {
            return None;
        }
        // The first function that begins after the address.
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entry(middle)? <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let number = low.checked_sub(1)?;
        let entry = self.entry(number)?;
        let width = self.index_width();
        let offset = number.checked_mul(2 * width)?.checked_add(self.index + width)?;
        let inner = usize::try_from(self.index_number(offset)?).ok()?;
        // The older layout counts from the beginning of the table.
        let base = if self.version == Version::Go2 { 0 } else { self.index };
        Some(GoFunction { entry, description: base.checked_add(inner)? })
    }

    /// A field of a function's description, by its number after the entry.
    fn field(&self, function: GoFunction, number: usize) -> Option<u32> {
        let entry = if self.version >= Version::Go18 { 4 } else { self.pointer };
        self.u32_at(function.description.checked_add(entry + 4 * number)?)
    }

    /// The name of a function, with the path of its package.
    pub(crate) fn name(&self, function: GoFunction) -> Option<String> {
        let offset = self.names.checked_add(self.field(function, 0)? as usize)?;
        let name = c_string(&self.data, offset, MAX_NAME)?;
        Some(name).filter(|name| !name.is_empty()).map(|name| String::from_utf8_lossy(name).into())
    }

    /// The place in the source of an address in a function.
    pub(crate) fn location(&self, function: GoFunction, address: u64) -> Option<Location> {
        let file = self.value_at(function, self.field(function, 4)?, address)?;
        let line = self.value_at(function, self.field(function, 5)?, address)?;
        let path = self.path(function, u32::try_from(file).ok()?)?;
        let (directory, file) = match path.rsplit_once('/') {
            Some(("", file)) => ("/", file),
            Some(parts) => parts,
            None => ("", path.as_str()),
        };
        Some(Location {
            directory: Arc::from(directory),
            file: Arc::from(file),
            line: u32::try_from(line).ok().filter(|line| *line > 0)?,
            column: None,
        })
    }

    /// The path of a file: by its number in the function's unit, or in the program.
    fn path(&self, function: GoFunction, file: u32) -> Option<String> {
        let file = file as usize;
        let offset = if self.version == Version::Go2 {
            self.u32_at(self.files.checked_add(file.checked_mul(4)?)?)? as usize
        } else {
            let number = (self.field(function, 7)? as usize).checked_add(file)?;
            let inner = self.u32_at(self.units.checked_add(number.checked_mul(4)?)?)?;
            if inner == u32::MAX {
                return None;
            }
            self.files.checked_add(inner as usize)?
        };
        let path = c_string(&self.data, offset, MAX_NAME)?;
        Some(path).filter(|path| !path.is_empty()).map(|path| String::from_utf8_lossy(path).into())
    }

    /// The value that a table of steps has at an address.
    fn value_at(&self, function: GoFunction, table: u32, address: u64) -> Option<i32> {
        let start = self.steps.checked_add(table as usize)?;
        let mut rest = self.data.get(start..)?.iter().copied();
        let (mut pc, mut value) = (function.entry, NOT_KNOWN);
        for step in 0..MAX_STEPS {
            let change = variable_length(&mut rest)?;
            if change == 0 && step > 0 {
                return None;
            }
            // The lowest bit is the sign.
            let change = (change >> 1) ^ 0_u32.wrapping_sub(change & 1);
            value = value.wrapping_add(change as i32);
            let size = u64::from(variable_length(&mut rest)?);
            pc = pc.checked_add(size.checked_mul(self.quantum)?)?;
            if address < pc {
                return Some(value);
            }
        }
        None
    }
}

/// Numbers as wide as a pointer.
struct Words<'a> {
    cursor: Cursor<'a>,
    is_wide: bool,
}

impl Words<'_> {
    fn next(&mut self) -> Option<usize> {
        let number = if self.is_wide { self.cursor.u64()? } else { u64::from(self.cursor.u32()?) };
        usize::try_from(number).ok()
    }
}

/// A number of seven bits a byte, the lowest first.
fn variable_length(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
    let mut number = 0_u32;
    for shift in (0..35).step_by(7) {
        let byte = bytes.next()?;
        number |= u32::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Where the text begins that entries count from. The header says it; where the program may
/// be loaded anywhere, a relocation does, and newer linkers leave both out, because it is the
/// beginning of the section.
fn text_start(object: &ElfFile, section: &Section, table: &GoLineTable) -> u64 {
    if table.text != 0 {
        return table.text;
    }
    let field = section.address.wrapping_add(8 + 2 * table.pointer as u64);
    relocated(object, field)
        .or_else(|| object.find_section(b".text").map(|text| text.address))
        .unwrap_or(0)
}

/// What the dynamic linker adds to the load bias at an address.
fn relocated(object: &ElfFile, address: u64) -> Option<u64> {
    let encoding = object.headers().encoding;
    let size = if encoding.is_64 { 24 } else { 12 };
    let tables = object.sections().iter();
    for table in tables.filter(|one| one.kind == SHT_RELA && one.has_bits()) {
        let data = object.read_section(table).ok()?;
        for entry in data.chunks_exact(size) {
            let mut cursor = Cursor::new(entry, encoding);
            let (place, _kind, addend) = (cursor.word()?, cursor.word()?, cursor.word()?);
            if place == address {
                return Some(addend).filter(|addend| *addend != 0);
            }
        }
    }
    None
}
