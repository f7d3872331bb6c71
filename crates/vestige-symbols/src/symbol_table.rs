//! Lookups by file address over one object and its separate debug file.
//!
//! Debug information names the function and the line; ELF symbols name what it
//! leaves out. Every lookup gives an answer: what is missing has a reason.

use std::sync::Arc;

use crate::debug_info::{DebugInfo, Dwarf, FunctionAt};
use crate::demangle::demangle;
use crate::elf_symbol::{ElfSymbol, ElfSymbols};
use crate::error::SymbolError;
use crate::function::FunctionName;
use crate::lookup::{Frame, FunctionPlace, Location, Lookup, Source, Unresolved};
use crate::object_file::ObjectFile;
use crate::text::Text;

/// How much padding compilers and linkers put between functions at the most.
const MAX_PADDING: u64 = 64;

/// The symbols of one object; lookups may run on several threads at once.
#[derive(Debug)]
pub struct SymbolTable {
    debug_info: Option<Arc<DebugInfo>>,
    dwarf_problem: Option<SymbolError>,
    symbols: ElfSymbols,
    text: Text,
}

impl SymbolTable {
    /// Combines the debug information of the first object that has any with
    /// the ELF symbols of both. `debug` is the file to prefer, the separate
    /// debug file where there is one, and `main` the object as it was loaded.
    ///
    /// Damaged debug information is no error here, since ELF symbols still
    /// answer: see [`SymbolTable::dwarf_problem`].
    ///
    /// # Errors
    /// When a symbol table cannot be read.
    pub fn new(debug: &ObjectFile, main: Option<&ObjectFile>) -> Result<Self, SymbolError> {
        let objects: Vec<&ObjectFile> = std::iter::once(debug).chain(main).collect();
        let mut dwarf_problem = None;
        let mut debug_info = None;
        for object in &objects {
            match object.debug_info() {
                Ok(Some(info)) if info.describes_code() => debug_info = debug_info.or(Some(info)),
                Ok(_) => {}
                Err(error) => dwarf_problem = dwarf_problem.or(Some(error)),
            }
        }
        Ok(Self {
            debug_info,
            dwarf_problem,
            symbols: ElfSymbols::read(&objects)?,
            text: main.unwrap_or(debug).text().clone(),
        })
    }

    /// Why debug information that is there cannot be used.
    pub fn dwarf_problem(&self) -> Option<&SymbolError> {
        self.dwarf_problem.as_ref()
    }

    /// The function, line and inlined calls at a file address.
    pub fn lookup(&self, address: u64) -> Lookup {
        let mut answer = Lookup::default();
        if !self.text.contains(address) {
            answer.reason = Some(Unresolved::OutsideOfText);
            return answer;
        }
        if let Some(info) = &self.debug_info {
            self.lookup_dwarf(info, address, &mut answer);
        }
        if answer.function.is_none() {
            self.lookup_symbol(address, &mut answer);
        }
        if answer.function.is_none() {
            self.lookup_padding(address, &mut answer);
        }
        if answer.function.is_none() {
            answer.source = None;
            answer.reason = Some(self.reason());
        }
        answer
    }

    fn reason(&self) -> Unresolved {
        if self.dwarf_problem.is_some() && self.debug_info.is_none() {
            Unresolved::DamagedDebugInfo
        } else if self.debug_info.is_none() && self.symbols.is_empty() {
            Unresolved::NoSymbols
        } else {
            Unresolved::NoFunctionThere
        }
    }

    /// Padding belongs to the function before it: that is where the return address of a
    /// function lies whose last instruction is a call that never returns.
    fn lookup_padding(&self, address: u64, answer: &mut Lookup) {
        let Some(end) = self.symbols.end_before(address) else {
            return;
        };
        let Some(inside) = end.checked_sub(1).filter(|_| address - end < MAX_PADDING) else {
            return;
        };
        let mut before = Lookup::default();
        if let Some(info) = &self.debug_info {
            self.lookup_dwarf(info, inside, &mut before);
            answer.location = answer.location.take().or_else(|| {
                let (dwarf, unit_index) = (info.dwarf(), info.unit_covering(inside)?);
                let paths = Paths { info, dwarf: &dwarf, unit_index };
                paths.location(address)
            });
        }
        if before.function.is_none() {
            self.lookup_symbol(inside, &mut before);
        }
        answer.source = before.source;
        answer.function = before
            .function
            .map(|place| FunctionPlace { offset: distance(place.entry, address), ..place });
    }

    fn lookup_symbol(&self, address: u64, answer: &mut Lookup) {
        let Some(symbol) = self.symbols.covering(address) else {
            return;
        };
        answer.function = Some(self.place_in_symbol(symbol, address));
        answer.source = self.symbols.source(symbol);
    }

    fn place_in_symbol(&self, symbol: &ElfSymbol, address: u64) -> FunctionPlace {
        let linkage = self.symbols.name(symbol);
        let name = demangle(&linkage).map_or_else(|| Arc::from(linkage.as_str()), Arc::from);
        FunctionPlace {
            name,
            linkage_name: Some(Arc::from(linkage)),
            entry: symbol.start,
            offset: distance(symbol.start, address),
        }
    }

    fn lookup_dwarf(&self, info: &DebugInfo, address: u64, answer: &mut Lookup) {
        let Some(unit_index) = info.unit_covering(address) else {
            return;
        };
        let dwarf = info.dwarf();
        let paths = Paths { info, dwarf: &dwarf, unit_index };
        answer.location = paths.location(address);
        let Some(found) = info.function_at(&dwarf, unit_index, address) else {
            return;
        };
        let name = found.function.name(info, &dwarf, unit_index);
        answer.function = self.place_in_function(&found, name, address);
        answer.source = Some(Source::Dwarf);
        let outer = answer.function.as_ref();
        answer.frames = paths.frames(&found, address, outer, answer.location.as_ref());
    }

    /// Names the place in a function that DWARF describes.
    ///
    /// A part split off, as compilers do with code that seldom runs, belongs to the
    /// function: a place in it counts from the function's entry like any other, and may
    /// lie before it.
    fn place_in_function(
        &self,
        found: &FunctionAt<'_>,
        name: &FunctionName,
        address: u64,
    ) -> Option<FunctionPlace> {
        let entry = self.entry_of(found, name);
        let symbol = self.symbols.starting_at(entry).map(|symbol| self.symbols.name(symbol));
        let symbol = symbol.filter(|symbol| name.may_be(symbol));
        let (shown, linkage) = match (&name.linkage, symbol) {
            (Some(linkage), _) => (name.display.clone(), Some(Arc::clone(linkage))),
            (None, Some(symbol)) => (self.shown_name(name, &symbol), Some(Arc::from(symbol))),
            (None, None) => (name.display.clone(), None),
        };
        Some(FunctionPlace {
            name: shown?,
            linkage_name: linkage,
            entry,
            offset: distance(entry, address),
        })
    }

    /// The name to show for a function without linkage name whose symbol is known. What a
    /// compiler adds to the name of a clone, such as `.isra.0`, is not shown.
    fn shown_name(&self, name: &FunctionName, symbol: &str) -> Option<Arc<str>> {
        let original = symbol.split('.').next().unwrap_or(symbol);
        let demangled = demangle(original).map(Arc::from);
        demangled.or_else(|| name.display.clone()).or_else(|| Some(Arc::from(symbol)))
    }

    /// The entry of a function; where it has several parts, the one whose
    /// start the linker knows by the function's name.
    fn entry_of(&self, found: &FunctionAt<'_>, name: &FunctionName) -> u64 {
        if found.ranges.len() < 2 {
            return found.function.entry;
        }
        let is_entry = |start: &u64| {
            let symbol = self.symbols.starting_at(*start);
            symbol.is_some_and(|symbol| name.is_exactly(&self.symbols.name(symbol)))
        };
        let mut starts = found.ranges.iter().map(|range| range.start);
        starts.find(is_entry).unwrap_or(found.function.entry)
    }
}

/// How far an address lies behind an entry; negative before it.
fn distance(entry: u64, address: u64) -> i64 {
    address.wrapping_sub(entry) as i64
}

/// What turns rows and calls of one unit into paths and lines.
struct Paths<'a> {
    info: &'a DebugInfo,
    dwarf: &'a Dwarf<'a>,
    unit_index: usize,
}

impl Paths<'_> {
    fn path(&self, file: u64) -> Option<String> {
        let unit = self.info.units.get(self.unit_index)?;
        let directory = unit.root(self.info, self.dwarf)?.directory;
        let directory = directory.and_then(|position| position.read(self.dwarf));
        let directory = directory.map(String::from_utf8_lossy);
        unit.lines(self.info, self.dwarf).path(self.dwarf, file, directory.as_deref())
    }

    fn location(&self, address: u64) -> Option<Location> {
        let unit = self.info.units.get(self.unit_index)?;
        let row = unit.lines(self.info, self.dwarf).find(address)?;
        if row.line == 0 {
            return None;
        }
        Some(Location::new(&self.path(u64::from(row.file))?, row.line, row.column))
    }

    fn frames(
        &self,
        found: &FunctionAt<'_>,
        address: u64,
        outer: Option<&FunctionPlace>,
        location: Option<&Location>,
    ) -> Vec<Frame> {
        let inlines = found.function.inlines(self.info, self.dwarf, found.unit_index);
        let mut path = location.map(Location::path);
        let mut line = location.map(|location| location.line);
        let mut frames = Vec::new();
        for call in inlines.find(address) {
            let name = call.name(self.info, self.dwarf, self.unit_index);
            let (function, linkage_name) = (name.display.clone(), name.linkage.clone());
            frames.push(Frame { function, linkage_name, path, line });
            path = self.path(call.call_file);
            line = u32::try_from(call.call_line).ok().filter(|line| *line > 0);
        }
        if !frames.is_empty() {
            let function = outer.map(|place| Arc::clone(&place.name));
            let linkage_name = outer.and_then(|place| place.linkage_name.clone());
            frames.push(Frame { function, linkage_name, path, line });
        }
        frames
    }
}
