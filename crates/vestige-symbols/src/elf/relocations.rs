//! What debug sections of relocatable objects lack: the addresses of code, and offsets in each other.
//!
//! Follows the gABI, "Relocation", and of each machine's ABI what compilers write in debug sections.
//! Where a symbol is in no section of the file, what is there stays: it is an address of no code.

use std::sync::OnceLock;

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::elf::header::{Headers, Section, SHT_SYMTAB};
use crate::elf::symbol_sections::SymbolSections;
use crate::error::SymbolError;
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;
const SHN_ABS: u16 = 0xfff1;
const WHAT: &str = "relocations of debug information";

const EM_386: u16 = 3;
const EM_ARM: u16 = 40;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// What a relocation writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Nothing, or something that has to do with no code: offsets of variables of threads.
    Nothing,
    /// An address, in so many bytes.
    Address(usize),
    /// A distance from where it is, in so many bytes.
    Distance(usize),
}

impl Change {
    /// What relocations of a type do on a machine; `None` of those that are not known.
    fn of(machine: u16, kind: u32) -> Option<Self> {
        Some(match (machine, kind) {
            (EM_X86_64 | EM_AARCH64 | EM_386 | EM_ARM, 0)
            | (EM_X86_64, 17 | 21)
            | (EM_AARCH64, 256 | 1028 | 1029)
            | (EM_386, 32)
            | (EM_ARM, 106) => Self::Nothing,
            (EM_X86_64, 1) | (EM_AARCH64, 257) => Self::Address(8),
            (EM_X86_64, 10 | 11) | (EM_AARCH64, 258) | (EM_386, 1) | (EM_ARM, 2) => {
                Self::Address(4)
            }
            (EM_X86_64, 24) | (EM_AARCH64, 260) => Self::Distance(8),
            (EM_X86_64 | EM_386, 2) | (EM_AARCH64, 261) | (EM_ARM, 3) => Self::Distance(4),
            _ => return None,
        })
    }
}

/// One relocation.
struct Relocation {
    offset: u64,
    symbol: usize,
    kind: u32,
    /// `None`: it stands where the result goes.
    addend: Option<u64>,
}

/// The addresses of the symbols of one object, read when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct Relocations(OnceLock<Result<Symbols, SymbolError>>);

/// A symbol table.
#[derive(Debug)]
struct Symbols {
    section: usize,
    addresses: Vec<Option<u64>>,
}

impl Relocations {
    /// Completes the bytes of the section with this number.
    pub(crate) fn apply(
        &self,
        source: &dyn ReadAt,
        headers: &Headers,
        target: usize,
        data: &mut [u8],
    ) -> Result<(), SymbolError> {
        // However many tables there are: together they are no larger than the file.
        let mut bytes_left = source.len();
        for table in &headers.sections {
            let has_addend = table.kind == SHT_RELA;
            if !(has_addend || table.kind == SHT_REL) || table.info as usize != target {
                continue;
            }
            let expected = "tables that are no larger than the file, in sum";
            let left = bytes_left.checked_sub(table.size);
            bytes_left = left.ok_or_else(|| malformed(table.offset, expected))?;
            let symbols = self.symbols(source, headers)?;
            if table.link as usize != symbols.section {
                return Err(malformed(table.offset, "a link to the symbol table"));
            }
            let bytes = read_range(source, WHAT, table.offset, table.size)?;
            apply_table(&bytes, (table, has_addend), headers, symbols, data)?;
        }
        Ok(())
    }

    fn symbols(&self, source: &dyn ReadAt, headers: &Headers) -> Result<&Symbols, SymbolError> {
        let read = || Symbols::read(source, headers);
        self.0.get_or_init(read).as_ref().map_err(SymbolError::clone)
    }
}

impl Symbols {
    fn read(source: &dyn ReadAt, headers: &Headers) -> Result<Self, SymbolError> {
        let mut tables = headers.sections.iter().enumerate();
        let Some((section, table)) = tables.find(|(_, one)| one.kind == SHT_SYMTAB) else {
            return Err(malformed(0, "a symbol table"));
        };
        let numbers = SymbolSections::read(source, headers, section)?;
        let data = read_range(source, "the symbol table", table.offset, table.size)?;
        let size = if headers.encoding.is_64 { 24 } else { 16 };
        let address = |(symbol, entry)| {
            let (index, value) = place(entry, headers.encoding)?;
            if index == SHN_ABS {
                return Some(value);
            }
            let section = headers.sections.get(numbers.number(symbol, index)?)?;
            Some(section.address.wrapping_add(value))
        };
        let addresses = data.chunks_exact(size).enumerate().map(address).collect();
        Ok(Self { section, addresses })
    }
}

/// The section index and the value of an entry of a symbol table.
fn place(entry: &[u8], encoding: Encoding) -> Option<(u16, u64)> {
    let mut cursor = Cursor::new(entry, encoding);
    cursor.u32()?;
    if encoding.is_64 {
        cursor.u16()?;
        let index = cursor.u16()?;
        return Some((index, cursor.word()?));
    }
    let (value, _size, _info) = (cursor.word()?, cursor.word()?, cursor.u16()?);
    Some((cursor.u16()?, value))
}

fn apply_table(
    bytes: &[u8],
    (table, has_addend): (&Section, bool),
    headers: &Headers,
    symbols: &Symbols,
    data: &mut [u8],
) -> Result<(), SymbolError> {
    let encoding = headers.encoding;
    let word = if encoding.is_64 { 8 } else { 4 };
    let size = if has_addend { 3 * word } else { 2 * word };
    for (number, entry) in (0u64..).zip(bytes.chunks_exact(size)) {
        let at = table.offset.saturating_add(number.saturating_mul(size as u64));
        let Some(one) = relocation(entry, has_addend, encoding) else { continue };
        let change = Change::of(headers.machine, one.kind)
            .ok_or_else(|| malformed(at, "a type that is known of the machine"))?;
        let address = symbols.addresses.get(one.symbol);
        let address = address.ok_or_else(|| malformed(at, "a symbol of the symbol table"))?;
        if let Some(address) = address {
            write(data, &one, change, *address, encoding)
                .ok_or_else(|| malformed(at, "an offset in its section"))?;
        }
    }
    Ok(())
}

fn relocation(entry: &[u8], has_addend: bool, encoding: Encoding) -> Option<Relocation> {
    let mut cursor = Cursor::new(entry, encoding);
    let (offset, info) = (cursor.word()?, cursor.word()?);
    let (symbol, kind) =
        if encoding.is_64 { (info >> 32, info as u32) } else { (info >> 8, info as u32 & 0xff) };
    let addend = if has_addend { Some(cursor.word()?) } else { None };
    // A number has 32 bits at most.
    Some(Relocation { offset, symbol: symbol as usize, kind, addend })
}

fn write(
    data: &mut [u8],
    one: &Relocation,
    change: Change,
    address: u64,
    encoding: Encoding,
) -> Option<()> {
    let (width, place) = match change {
        Change::Nothing => return Some(()),
        Change::Address(width) => (width, 0),
        // Debug sections are at address 0.
        Change::Distance(width) => (width, one.offset),
    };
    let begin = usize::try_from(one.offset).ok()?;
    let bytes = data.get_mut(begin..begin.checked_add(width)?)?;
    let there = || bytes_as_number(bytes, encoding);
    let value = address.wrapping_add(one.addend.unwrap_or_else(there)).wrapping_sub(place);
    if encoding.big_endian {
        let all = value.to_be_bytes();
        bytes.copy_from_slice(all.get(all.len() - width..)?);
    } else {
        bytes.copy_from_slice(value.to_le_bytes().get(..width)?);
    }
    Some(())
}

fn bytes_as_number(bytes: &[u8], encoding: Encoding) -> u64 {
    let add = |value: u64, byte: &u8| (value << 8) | u64::from(*byte);
    if encoding.big_endian {
        bytes.iter().fold(0, add)
    } else {
        bytes.iter().rev().fold(0, add)
    }
}

fn malformed(offset: u64, expected: &'static str) -> SymbolError {
    SymbolError::Malformed { what: WHAT, offset, expected }
}
