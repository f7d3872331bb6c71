//! The entries of procedure linkage tables: small pieces of code that jump to functions of
//! other objects.
//!
//! No symbol names them. An entry loads a slot of the global offset table, and a dynamic
//! relocation says whose address the linker puts into that slot (psABI supplements of
//! x86-64, i386 and AArch64, "Procedure Linkage Table"). Going by the slot, and not by the
//! number of the entry, works for each linker and for each kind of table.

use std::collections::BTreeMap;

use crate::elf::elf_file::ElfFile;
use crate::elf::encoded_numbers::{c_string, Cursor, Encoding};
use crate::elf::header::{Section, SHT_DYNSYM};
use crate::error::SymbolError;
use crate::range_map::{Interval, RangeMap};

const SHT_RELA: u32 = 4;
const SHT_REL: u32 = 9;
const SHF_ALLOC: u64 = 2;
const EM_386: u16 = 3;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;
/// As for the names of symbols.
const MAX_NAME: usize = 16 << 10;
/// The tables of one object; a file with more is damaged.
const MAX_TABLES: usize = 16;
const SMALL_ENTRY: u64 = 8;
const MAX_ENTRY: u64 = 16;

/// Whose address a slot holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    /// That of a dynamic symbol: where its name is in the string table.
    Symbol(u32),
    /// What the function at this address chooses (`IRELATIVE` relocations).
    Resolver(u64),
}

/// An entry and the function it jumps to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PltEntry {
    pub(crate) start: u64,
    pub(crate) target: Target,
}

/// The entries of all tables of an object.
#[derive(Debug, Default)]
pub(crate) struct PltEntries {
    entries: Vec<PltEntry>,
    map: RangeMap,
    names: Vec<u8>,
}

/// The slots that relocations fill.
struct Slots {
    by_address: BTreeMap<u64, Target>,
    names: Vec<u8>,
}

/// The code of a table, and what is needed to read it.
struct Table<'a> {
    section: &'a Section,
    code: Vec<u8>,
    /// What position-independent code of i386 counts from.
    got: u64,
}

impl PltEntries {
    /// Reads the tables of an object; of other machines none is known.
    pub(crate) fn read(object: &ElfFile) -> Result<Self, SymbolError> {
        let mut found = Self::default();
        let machine = object.machine();
        if !matches!(machine, EM_386 | EM_X86_64 | EM_AARCH64) {
            return Ok(found);
        }
        let sections = object.sections().iter();
        let tables = sections.filter(|section| section.has_bits() && is_table(object, section));
        let tables: Vec<&Section> = tables.take(MAX_TABLES).collect();
        if tables.is_empty() {
            return Ok(found);
        }
        let slots = Slots::read(object)?;
        let got = [b".got.plt".as_slice(), b".got"];
        let got = got.into_iter().find_map(|name| object.find_section(name));
        let got = got.map_or(0, |section| section.address);
        let mut intervals = Vec::new();
        for section in tables {
            let table = Table { section, code: object.read_section(section)?, got };
            let mut add = |start: u64, end: u64, slot: u64| {
                let Some(target) = slots.by_address.get(&slot).copied() else {
                    return;
                };
                let value = found.entries.len() as u32;
                found.entries.push(PltEntry { start, target });
                intervals.push(Interval { start, end, rank: 0, value });
            };
            match machine {
                EM_AARCH64 => table.entries_of_aarch64(&mut add),
                EM_X86_64 => table.entries_of_x86(true, &mut add),
                _ => table.entries_of_x86(false, &mut add),
            }
        }
        found.map = RangeMap::build(intervals);
        found.names = slots.names;
        Ok(found)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry that covers an address.
    pub(crate) fn covering(&self, address: u64) -> Option<PltEntry> {
        self.entries.get(self.map.find(address)? as usize).copied()
    }

    /// The name of a dynamic symbol.
    pub(crate) fn name(&self, offset: u32) -> Option<&[u8]> {
        let name = c_string(&self.names, offset as usize, MAX_NAME)?;
        Some(name).filter(|name| !name.is_empty())
    }
}

fn is_table(object: &ElfFile, section: &Section) -> bool {
    let names = [b".plt".as_slice(), b".plt.sec", b".plt.got", b".plt.bnd", b".iplt"];
    section.flags & SHF_ALLOC != 0 && names.contains(&object.section_name(section))
}

impl Slots {
    fn read(object: &ElfFile) -> Result<Self, SymbolError> {
        let encoding = object.headers().encoding;
        let mut found = Self { by_address: BTreeMap::new(), names: Vec::new() };
        let sections = object.sections().iter();
        let dynamic =
            sections.enumerate().find(|(_, one)| one.kind == SHT_DYNSYM && one.has_bits());
        let (index, symbols) = match dynamic {
            Some((index, table)) => {
                if let Some(strings) = object.sections().get(table.link as usize) {
                    found.names = object.read_section(strings)?;
                }
                (index, object.read_section(table)?)
            }
            // A static executable has relocations of IFUNC slots, and no dynamic symbols.
            None => (usize::MAX, Vec::new()),
        };
        // In an honest file no byte is in two sections.
        let mut bytes_left = object.size();
        for section in object.sections() {
            let is_relocation = matches!(section.kind, SHT_REL | SHT_RELA) && section.has_bits();
            let is_dynamic = index == usize::MAX || section.link as usize == index;
            let is_dynamic = is_dynamic && section.flags & SHF_ALLOC != 0;
            if !is_relocation || !is_dynamic {
                continue;
            }
            let Some(left) = bytes_left.checked_sub(section.size) else {
                break;
            };
            bytes_left = left;
            let data = object.read_section(section)?;
            found.add(&data, section.kind == SHT_RELA, &symbols, encoding);
        }
        Ok(found)
    }

    fn add(&mut self, data: &[u8], has_addend: bool, symbols: &[u8], encoding: Encoding) {
        let word = if encoding.is_64 { 8 } else { 4 };
        let size = if has_addend { 3 * word } else { 2 * word };
        for entry in data.chunks_exact(size) {
            let mut cursor = Cursor::new(entry, encoding);
            let (Some(slot), Some(info)) = (cursor.word(), cursor.word()) else {
                continue;
            };
            let symbol = if encoding.is_64 { info >> 32 } else { info >> 8 };
            let target = match symbol {
                0 => cursor.word().map(Target::Resolver),
                symbol => symbol_name(symbols, symbol, encoding).map(Target::Symbol),
            };
            if let Some(target) = target {
                self.by_address.insert(slot, target);
            }
        }
    }
}

/// Where the name of a symbol is in the string table.
fn symbol_name(symbols: &[u8], index: u64, encoding: Encoding) -> Option<u32> {
    let size = if encoding.is_64 { 24 } else { 16 };
    let start = usize::try_from(index).ok()?.checked_mul(size)?;
    Cursor::new(symbols.get(start..)?, encoding).u32().filter(|name| *name != 0)
}

impl Table<'_> {
    /// Gives start, end and slot of each entry that jumps through a slot.
    fn entries_of_x86(&self, is_64: bool, add: &mut impl FnMut(u64, u64, u64)) {
        let step = match self.section.entry_size {
            16 => 16,
            // Unknown: of static executables the entries have 8 bytes, of others 16.
            _ => SMALL_ENTRY,
        };
        let mut last: Option<(u64, u64)> = None;
        for number in 0..(self.code.len() as u64).div_ceil(step) {
            let start = self.section.address.wrapping_add(number * step);
            let code = self.code.get((number * step) as usize..).unwrap_or_default();
            if let Some(slot) = self.slot_of_x86(code, start, is_64) {
                if let Some((before, slot)) = last.replace((start, slot)) {
                    add(before, start.min(before.saturating_add(MAX_ENTRY)), slot);
                }
            }
        }
        if let Some((start, slot)) = last {
            let end = self.section.address.saturating_add(self.code.len() as u64);
            add(start, end.min(start.saturating_add(MAX_ENTRY)), slot);
        }
    }

    fn slot_of_x86(&self, entry: &[u8], start: u64, is_64: bool) -> Option<u64> {
        let mut code = entry;
        // A mark for indirect branches, then a prefix of bounds checks, each where it is used.
        for prefix in [b"\xf3\x0f\x1e\xfa".as_slice(), b"\xf3\x0f\x1e\xfb", b"\xf2"] {
            code = code.strip_prefix(prefix).unwrap_or(code);
        }
        let (opcode, rest) = code.split_first_chunk::<2>()?;
        let (operand, rest) = rest.split_first_chunk::<4>()?;
        let operand = i64::from(i32::from_le_bytes(*operand));
        let next = start.wrapping_add((entry.len() - rest.len()) as u64);
        match (opcode, is_64) {
            (b"\xff\x25", true) => Some(next.wrapping_add_signed(operand)),
            (b"\xff\x25", false) => Some(operand as u64 & 0xffff_ffff),
            (b"\xff\xa3", false) => Some(self.got.wrapping_add_signed(operand) & 0xffff_ffff),
            _ => None,
        }
    }

    /// `adrp x16, slot; ldr x17, [x16, slot]` and up to the branch, with or without `bti c`.
    fn entries_of_aarch64(&self, add: &mut impl FnMut(u64, u64, u64)) {
        let words = self.code.chunks_exact(4).map(|word| {
            word.iter().rev().fold(0u32, |value, byte| (value << 8) | u32::from(*byte))
        });
        let mut start = self.section.address;
        let mut page = None;
        let mut slot = None;
        for (word, number) in words.zip(0u64..) {
            let address = self.section.address.wrapping_add(number * 4);
            match word {
                // Padding and the marks of branch targets come before an entry.
                0xd503_201f | 0xd503_245f if slot.is_none() => {
                    start = if word == 0xd503_245f { address } else { address.wrapping_add(4) };
                }
                0xd61f_0220 => {
                    if let Some(slot) = slot.take() {
                        add(start, address.saturating_add(4), slot);
                    }
                    page = None;
                    start = address.wrapping_add(4);
                }
                _ if word & 0x9f00_001f == 0x9000_0010 => page = Some(page_of(word, address)),
                _ if word & 0xffc0_03ff == 0xf940_0211 => {
                    let offset = u64::from((word >> 10) & 0xfff) * 8;
                    slot = page.map(|page: u64| page.wrapping_add(offset));
                }
                _ => {}
            }
        }
    }
}

/// The page that an `adrp` instruction names.
fn page_of(word: u32, address: u64) -> u64 {
    let value = ((word >> 29) & 3) | ((word >> 3) & 0x1f_fffc);
    // The value is signed and has 21 bits; a page has 12 more.
    let pages = i64::from((value << 11) as i32 >> 11);
    (address & !0xfff).wrapping_add_signed(pages << 12)
}
