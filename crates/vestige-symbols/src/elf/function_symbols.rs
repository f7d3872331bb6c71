//! The functions that ELF symbol tables name.
//!
//! Follows the gABI, "Symbol Table". A symbol covers the bytes its size says;
//! one without a size, as assembly code often gives, reaches up to the next
//! symbol. What no symbol covers has no name: a guess is worse than none.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::answer::Source;
use crate::elf::elf_file::ElfFile;
use crate::elf::encoded_numbers::{c_string, Cursor, Encoding};
use crate::elf::function_descriptors::Opd;
use crate::elf::header::{Section, SHF_EXECINSTR, SHT_DYNSYM, SHT_SYMTAB};
use crate::elf::symbol_sections::SymbolSections;
use crate::error::SymbolError;
use crate::range_map::{Interval, RangeMap};

const MAX_NAME: usize = 16 << 10;
/// How much of a name decides between aliases; all of it would make sorting hostile names slow.
const MAX_COMPARED: usize = 256;
const EM_ARM: u16 = 40;
const STT_NOTYPE: u8 = 0;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const STB_LOCAL: u8 = 0;
const STB_GLOBAL: u8 = 1;
const SHN_UNDEF: u16 = 0;
const SHN_XINDEX: u16 = 0xffff;

/// One symbol of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElfSymbol {
    pub(crate) start: u64,
    end: u64,
    sized: bool,
    kind: u8,
    binding: u8,
    pub(crate) table: u8,
    pub(crate) name: u32,
}

impl ElfSymbol {
    /// Decides between symbols that cover the same address; the greater is better.
    fn preference(&self) -> impl Ord {
        let binding = match self.binding {
            STB_GLOBAL => 2,
            STB_LOCAL => 0,
            _ => 1,
        };
        let is_function = self.kind != STT_NOTYPE;
        (self.sized, self.start, is_function, binding, Reverse(self.table))
    }
}

/// The fields of an entry of a symbol table.
struct Entry {
    name: u32,
    info: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// The symbols of functions of one or two objects, by address.
#[derive(Debug, Default)]
pub(crate) struct ElfSymbols {
    /// The string table of each symbol table, and what kind of table it is.
    names: Vec<(Vec<u8>, Source)>,
    /// Ordered so that the symbol to be preferred comes later.
    symbols: Vec<ElfSymbol>,
    map: RangeMap,
    /// The sections of the first object that hold code.
    code: RangeMap,
}

impl ElfSymbols {
    /// Reads the symbol tables of the objects, and that of the symbols packed into one of
    /// them; when the latter is damaged, the others do without it.
    pub(crate) fn read(
        objects: &[&ElfFile],
        mini: Option<&ElfFile>,
        problems: &mut Vec<String>,
    ) -> Result<Self, SymbolError> {
        let mut found = Self::default();
        // Where a debug file lacks `.opd`, its bytes are in the other object.
        let opd = objects.iter().map(|object| Opd::read(object)).collect::<Result<Vec<_>, _>>()?;
        let opd = opd.into_iter().flatten().next();
        for object in objects {
            found.add_tables(object, SHT_SYMTAB, Source::ElfSymtab, opd.as_ref())?;
        }
        if let Some(mini) = mini {
            let added = found.add_tables(mini, SHT_SYMTAB, Source::MiniDebugInfo, opd.as_ref());
            if let Err(error) = added {
                problems.push(format!("symbols in .gnu_debugdata: {error}"));
            }
        }
        for object in objects {
            found.add_tables(object, SHT_DYNSYM, Source::ElfDynsym, opd.as_ref())?;
        }
        found.code = objects.first().map(|object| code_sections(object)).unwrap_or_default();
        found.index();
        Ok(found)
    }

    fn add_tables(
        &mut self,
        object: &ElfFile,
        kind: u32,
        source: Source,
        opd: Option<&Opd>,
    ) -> Result<(), SymbolError> {
        let tables = object.sections().iter();
        let mut tables =
            tables.enumerate().filter(|(_, table)| table.kind == kind && table.has_bits());
        tables.next().map_or(Ok(()), |table| self.add_table(object, table, source, opd))
    }

    fn add_table(
        &mut self,
        object: &ElfFile,
        (number, table): (usize, &Section),
        source: Source,
        opd: Option<&Opd>,
    ) -> Result<(), SymbolError> {
        let encoding = object.headers().encoding;
        let Some(strings) = object.sections().get(table.link as usize) else {
            return Err(SymbolError::Malformed {
                what: "a symbol table",
                offset: table.offset,
                expected: "a link to a string table",
            });
        };
        let data = object.read_section(table)?;
        let index = self.names.len() as u8;
        self.names.push((object.read_section(strings)?, source));
        let size = if encoding.is_64 { 24 } else { 16 };
        let relative =
            object.is_relocatable().then(|| object.symbol_sections(number)).transpose()?;
        let entries = data.chunks_exact(size).map(|entry| parse_entry(entry, encoding));
        let code = code_sections(object);
        let context = Context { object, code, relative, opd, table: index };
        let names = self.names.last().map(|(names, _)| names.as_slice()).unwrap_or_default();
        let symbol =
            |(number, entry)| context.function_symbol(&context.placed(number, entry?)?, names);
        let symbols = entries.enumerate().filter_map(symbol);
        self.symbols.extend(symbols);
        Ok(())
    }

    fn index(&mut self) {
        self.end_unsized();
        let mut symbols = std::mem::take(&mut self.symbols);
        symbols.sort_by(|one, other| {
            let names = || self.name_preference(one).cmp(&self.name_preference(other));
            one.preference().cmp(&other.preference()).then_with(names)
        });
        self.symbols = symbols;
        let intervals = self.symbols.iter().enumerate().map(|(index, symbol)| Interval {
            start: symbol.start,
            end: symbol.end,
            rank: index,
            value: index as u32,
        });
        self.map = RangeMap::build(intervals.collect());
    }

    /// Lets symbols without a size reach up to the next symbol.
    fn end_unsized(&mut self) {
        let mut starts: Vec<u64> = self.symbols.iter().map(|symbol| symbol.start).collect();
        starts.sort_unstable();
        starts.dedup();
        for symbol in self.symbols.iter_mut().filter(|symbol| !symbol.sized) {
            let next = starts.partition_point(|start| *start <= symbol.start);
            symbol.end = starts.get(next).map_or(symbol.end, |next| symbol.end.min(*next));
        }
    }

    /// Decides between names at the same address; the greater is better.
    fn name_preference(&self, symbol: &ElfSymbol) -> impl Ord + '_ {
        let name = self.raw_name(symbol, MAX_COMPARED);
        let underscores = name.iter().take_while(|byte| **byte == b'_').count();
        (Reverse(underscores), Reverse(name))
    }

    fn raw_name(&self, symbol: &ElfSymbol, limit: usize) -> &[u8] {
        let names = self.names.get(usize::from(symbol.table)).map(|(names, _)| names.as_slice());
        c_string(names.unwrap_or_default(), symbol.name as usize, limit).unwrap_or_default()
    }

    /// The symbol that covers `address`.
    pub(crate) fn covering(&self, address: u64) -> Option<&ElfSymbol> {
        self.symbols.get(self.map.find(address)? as usize)
    }

    /// Where the last symbol before `address` in its section ends, unless one covers it.
    pub(crate) fn end_before(&self, address: u64) -> Option<u64> {
        let end = self.map.end_before(address)?;
        (self.code.find(end.checked_sub(1)?) == self.code.find(address)).then_some(end)
    }

    /// The preferred symbol that starts at `address`.
    pub(crate) fn starting_at(&self, address: u64) -> Option<&ElfSymbol> {
        self.covering(address).filter(|symbol| symbol.start == address)
    }

    /// The name of a symbol, without the version the linker may have added.
    pub(crate) fn name(&self, symbol: &ElfSymbol) -> Cow<'_, str> {
        let name = self.raw_name(symbol, MAX_NAME);
        let bare = name.iter().position(|byte| *byte == b'@').filter(|end| *end > 0);
        String::from_utf8_lossy(bare.and_then(|end| name.get(..end)).unwrap_or(name))
    }

    /// The preferred symbol of each address where a symbol of a function begins, in order.
    fn starts(&self) -> Vec<&ElfSymbol> {
        let mut starts: BTreeMap<u64, &ElfSymbol> = BTreeMap::new();
        // What is to be preferred comes later.
        for symbol in &self.symbols {
            starts.insert(symbol.start, symbol);
        }
        starts.into_values().collect()
    }

    /// The kind of table that a symbol comes from.
    pub(crate) fn source(&self, symbol: &ElfSymbol) -> Option<Source> {
        self.names.get(usize::from(symbol.table)).map(|(_, source)| *source)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
}

/// A function that a symbol table names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSymbol {
    /// Where it begins.
    pub start: u64,
    /// The byte after its last.
    pub end: u64,
    /// Its name as stored, without a version; of several, the one that lookups give.
    pub name: String,
    /// Whether the table calls it a function: assembly code may not.
    pub is_function: bool,
    /// Whether it chooses a function, and is none itself (`STT_GNU_IFUNC`).
    pub is_resolver: bool,
}

/// The functions that the symbol tables of objects name, by address; each address once.
///
/// # Errors
/// When a symbol table is cut, or has no string table.
pub fn function_symbols(
    objects: &[&impl AsRef<ElfFile>],
) -> Result<Vec<FunctionSymbol>, SymbolError> {
    let objects: Vec<&ElfFile> = objects.iter().map(|one| (*one).as_ref()).collect();
    let mini = objects.first().and_then(|object| object.mini_debug_info().ok().flatten());
    let symbols = ElfSymbols::read(&objects, mini.as_ref(), &mut Vec::new())?;
    let of = |symbol: &ElfSymbol| FunctionSymbol {
        start: symbol.start,
        end: symbol.end,
        name: symbols.name(symbol).into_owned(),
        is_function: symbol.kind != STT_NOTYPE,
        is_resolver: symbol.kind == STT_GNU_IFUNC,
    };
    Ok(symbols.starts().into_iter().map(of).collect())
}

fn parse_entry(entry: &[u8], encoding: Encoding) -> Option<Entry> {
    let mut cursor = Cursor::new(entry, encoding);
    let name = cursor.u32()?;
    if encoding.is_64 {
        let (info, _other, section) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
        let (value, size) = (cursor.word()?, cursor.word()?);
        return Some(Entry { name, info, section, value, size });
    }
    let (value, size) = (cursor.word()?, cursor.word()?);
    let (info, _other, section) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
    Some(Entry { name, info, section, value, size })
}

/// What is needed to judge the entries of one symbol table.
struct Context<'a> {
    object: &'a ElfFile,
    code: RangeMap,
    /// The sections of symbols, where these are offsets in sections.
    relative: Option<SymbolSections>,
    opd: Option<&'a Opd>,
    table: u8,
}

impl Context<'_> {
    /// An entry with the address of its symbol; `None` where it has none.
    fn placed(&self, number: usize, entry: Entry) -> Option<Entry> {
        let Some(sections) = &self.relative else { return Some(entry) };
        let section = self.object.sections().get(sections.number(number, entry.section)?)?;
        if entry.value >= section.size {
            return None;
        }
        // By the address it is found in whatever section.
        let value = section.address.checked_add(entry.value)?;
        Some(Entry { section: SHN_XINDEX, value, ..entry })
    }

    /// The symbol of an entry, when that names code of this object.
    fn function_symbol(&self, entry: &Entry, names: &[u8]) -> Option<ElfSymbol> {
        let (kind, binding) = (entry.info & 0xf, entry.info >> 4);
        let is_function = matches!(kind, STT_FUNC | STT_GNU_IFUNC);
        let may_be_function = is_function || kind == STT_NOTYPE;
        if !may_be_function || entry.section == SHN_UNDEF || entry.name == 0 {
            return None;
        }
        // Assembly code may leave the type out, and some linkers make hidden names local.
        if !is_function && binding == STB_LOCAL && is_mark(names, entry.name) {
            return None;
        }
        let mut start = entry.value;
        let mut section = self.section(entry.section, start)?;
        if let Some(code) = self.opd.and_then(|opd| opd.entry_point(start)) {
            start = code;
            section = self.section(SHN_XINDEX, start)?;
        }
        if self.object.machine() == EM_ARM && is_function {
            // Bit 0 says which instruction set the function uses.
            start &= !1;
        }
        let section_end = section.address.checked_add(section.size)?;
        let executable = section.flags & SHF_EXECINSTR != 0;
        if !executable || start < section.address || start >= section_end {
            return None;
        }
        let end = match entry.size {
            0 => section_end,
            size => start.saturating_add(size).min(section_end),
        };
        let (sized, table) = (entry.size != 0, self.table);
        Some(ElfSymbol { start, end, sized, kind, binding, table, name: entry.name })
    }

    /// The section of a symbol; found by address when its index does not fit the entry.
    fn section(&self, index: u16, address: u64) -> Option<&Section> {
        let index = match index {
            SHN_XINDEX => self.code.find(address)? as usize,
            index => usize::from(index),
        };
        self.object.sections().get(index)
    }
}

/// Whether a local symbol of no type marks a place for assemblers or disassemblers: `.L1`
/// is a local label, `$x` and `$d` tell code from data.
fn is_mark(names: &[u8], name: u32) -> bool {
    let start = names.get(name as usize..).unwrap_or_default();
    start.starts_with(b".L") || start.starts_with(b"$")
}

/// The indexes of the sections that hold code, by address.
fn code_sections(object: &ElfFile) -> RangeMap {
    let sections = object.sections().iter().enumerate();
    let code = sections.filter(|(_, section)| section.flags & SHF_EXECINSTR != 0);
    let intervals = code.map(|(index, section)| Interval {
        start: section.address,
        end: section.address.saturating_add(section.size),
        rank: 0,
        value: index as u32,
    });
    RangeMap::build(intervals.collect())
}
