//! Lookups by file address over one object and its separate debug file.
//!
//! Debug information names the function and the line; ELF symbols name what it
//! leaves out. Every lookup gives an answer: what is missing has a reason.

use std::sync::Arc;

use rayon::prelude::*;

use crate::answer::{Frame, FunctionPlace, Location, Lookup, Source, Unresolved};
use crate::dwarf::object_file::ObjectFile;
use crate::elf::elf_file::ElfFile;
use crate::elf::executable_ranges::ExecutableRanges;
use crate::elf::function_symbols::{ElfSymbol, ElfSymbols};
use crate::elf::plt::{PltEntries, Target};
use crate::error::SymbolError;
use crate::index::stored_units::UnitIndex;
use crate::index::unit_table::{Function, UnitTable};
use crate::lookup::companions::companions_of;
use crate::lookup::go_line_table::GoLineTable;
use crate::lookup::symbol_files::{SplitFiles, SymbolFiles};
use crate::lookup::unit_tables::Units;
use crate::names::demangle::demangle;
use crate::names::function_name::FunctionName;
use vestige_workers::on_all_cores;

/// How much padding compilers and linkers put between functions at the most.
const MAX_PADDING: u64 = 64;

/// Compilers split a function into two or three; each lookup in it looks at all of them.
const MAX_PARTS: usize = 64;

/// Fewer addresses are not worth to be shared out.
const FEW: usize = 8;

/// Where the name of a symbol is, the name to show and that of the linker.
type NamedSymbol = ((u8, u32), Arc<str>, Arc<str>);

/// Which names of ELF symbols lookups make, and the last that one of them made: neighbours
/// are often in the same function.
#[derive(Debug, Default)]
pub(crate) struct SymbolNames {
    /// Whether the name to show is the linker's, which costs nothing to make.
    mangled: bool,
    /// The last symbol that was named.
    last: Option<NamedSymbol>,
}

impl SymbolNames {
    /// Names as the linker has them, or as they are in the source.
    pub(crate) fn new(demangle: bool) -> Self {
        Self { mangled: !demangle, last: None }
    }
}

/// The symbols of one object; lookups may run on several threads at once.
#[derive(Debug)]
pub struct SymbolTable {
    units: Option<Units>,
    dwarf_problem: Option<SymbolError>,
    symbols: ElfSymbols,
    plt: PltEntries,
    /// Programs of Go without debug information still have this.
    go: Option<GoLineTable>,
    text: ExecutableRanges,
    problems: Vec<String>,
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
        Self::of_files(SymbolFiles::new(debug, main), None)
    }

    /// Like [`SymbolTable::new`], with the other files that belong to these. `split` gives
    /// the `.dwo` files of split debug information when a lookup needs them.
    ///
    /// One of these that is damaged, or belongs to another object, is no error: see
    /// [`SymbolTable::problems`].
    ///
    /// # Errors
    /// When a symbol table of the first two cannot be read.
    pub fn of_files(
        files: SymbolFiles<'_>,
        split: Option<Arc<dyn SplitFiles>>,
    ) -> Result<Self, SymbolError> {
        let mut dwarf_problem = None;
        let mut debug_info = None;
        let mut problems = Vec::new();
        for object in files.objects() {
            match object.debug_info() {
                Ok(Some(info)) if debug_info.is_none() && info.describes_code() => {
                    let companions = companions_of(object, &files, split.clone(), &mut problems);
                    debug_info = Some(object.debug_info_with(info, companions)?);
                }
                Ok(_) => {}
                Err(error) => dwarf_problem = dwarf_problem.or(Some(error)),
            }
        }
        let units = debug_info.map(Units::Decoded);
        Ok(Self { dwarf_problem, ..Self::of_units(&files, units, problems)? })
    }

    /// Answers from the index of the debug information of `debug`, which is not read.
    /// Where [`UnitIndex::lacks_unit`] says so after lookups, their answers are void. Files
    /// beside the debug information are not needed: what they hold is in the index.
    ///
    /// # Errors
    /// When a symbol table cannot be read.
    pub fn with_index(
        debug: &ObjectFile,
        main: Option<&ObjectFile>,
        index: Arc<UnitIndex>,
    ) -> Result<Self, SymbolError> {
        Self::of_units(&SymbolFiles::new(debug, main), Some(Units::Stored(index)), Vec::new())
    }

    /// Adds to the units what the ELF symbols of the files say.
    fn of_units(
        files: &SymbolFiles<'_>,
        units: Option<Units>,
        mut problems: Vec<String>,
    ) -> Result<Self, SymbolError> {
        let objects = files.elf_files();
        let mini = files.mini.map(AsRef::as_ref);
        let mut go = None;
        if units.is_none() {
            match GoLineTable::read(&objects) {
                Ok(found) => go = found,
                Err(error) => problems.push(format!("line table of Go: {error}")),
            }
        }
        Ok(Self {
            units,
            go,
            dwarf_problem: None,
            symbols: ElfSymbols::read(&objects, mini, &mut problems)?,
            plt: plt_of(&objects, &mut problems),
            text: files.main.unwrap_or(files.debug).text().clone(),
            problems,
        })
    }

    /// Takes units from an index of the same debug information instead of decoding them.
    pub fn use_index(&self, index: Arc<UnitIndex>) {
        if let Some(Units::Decoded(info)) = &self.units {
            info.use_index(index);
        }
    }

    /// The units decoded since the last call as a part of the index for `key`; `None` when
    /// there are none, or when a limit on work has cut some of them.
    pub fn take_index_part(&self, key: &[u8]) -> Option<Vec<u8>> {
        match &self.units {
            Some(Units::Decoded(info)) => info.take_index_part(key),
            _ => None,
        }
    }

    /// Why debug information that is there cannot be used.
    pub fn dwarf_problem(&self) -> Option<&SymbolError> {
        self.dwarf_problem.as_ref()
    }

    /// What is missing or damaged of the files that belong to the debug information, as far
    /// as lookups have met it; for people.
    pub fn problems(&self) -> Vec<String> {
        let met = match &self.units {
            Some(Units::Decoded(info)) => info.problems(),
            _ => Vec::new(),
        };
        self.problems.iter().cloned().chain(met).collect()
    }

    /// The function, line and inlined calls at a file address.
    pub fn lookup(&self, address: u64) -> Lookup {
        self.lookup_with(address, &mut SymbolNames::default())
    }

    /// As [`SymbolTable::lookup`], with names that one address after the other shares.
    pub(crate) fn lookup_with(&self, address: u64, names: &mut SymbolNames) -> Lookup {
        let mut answer = Lookup::default();
        if !self.text.contains(address) {
            answer.reason = Some(Unresolved::OutsideOfText);
            return answer;
        }
        if let Some(info) = &self.units {
            self.lookup_dwarf(info, address, &mut answer);
        }
        if let Some(go) = &self.go {
            lookup_go(go, address, &mut answer);
        }
        if answer.function.is_none() {
            // Some linkers have symbols of their own kinds for these.
            self.lookup_plt(address, &mut answer);
        }
        if answer.function.is_none() {
            self.lookup_symbol(address, names, &mut answer);
        }
        if answer.function.is_none() {
            self.lookup_padding(address, names, &mut answer);
        }
        if answer.function.is_none() {
            answer.source = None;
            answer.reason = Some(self.reason());
        }
        answer
    }

    /// Makes the tables of the units for some addresses, on all cores.
    pub(crate) fn prepare(&self, addresses: impl Iterator<Item = u64>) {
        if let Some(units) = &self.units {
            units.prepare(addresses);
        }
    }

    /// The answers for many addresses, in their order, worked out on all cores.
    pub fn lookup_many(&self, addresses: &[u64]) -> Vec<Lookup> {
        self.lookup_each(addresses, |_, lookup| lookup)
    }

    /// What `make` makes of the answer for each of many addresses, in their order; it is
    /// called with the index of the address, on all cores.
    pub fn lookup_each<T: Send>(
        &self,
        addresses: &[u64],
        make: impl Fn(usize, Lookup) -> T + Sync,
    ) -> Vec<T> {
        if addresses.len() < FEW {
            let answers = addresses.iter().map(|address| self.lookup(*address)).enumerate();
            return answers.map(|(index, lookup)| make(index, lookup)).collect();
        }
        on_all_cores(|| self.lookup_shared(addresses, &make))
    }

    fn lookup_shared<T: Send>(
        &self,
        addresses: &[u64],
        make: &(impl Fn(usize, Lookup) -> T + Sync),
    ) -> Vec<T> {
        // Neighbours share a unit, so each unit is decoded by the thread that comes first.
        let mut order: Vec<usize> = (0..addresses.len()).collect();
        order.sort_by_key(|index| addresses.get(*index));
        self.prepare(order.iter().filter_map(|index| addresses.get(*index).copied()));
        let mut found: Vec<(usize, T)> = order
            .into_par_iter()
            .map_init(SymbolNames::default, |names, index| {
                let found = self.lookup_with(*addresses.get(index)?, names);
                Some((index, make(index, found)))
            })
            .flatten()
            .collect();
        if !addresses.is_sorted() {
            found.par_sort_unstable_by_key(|(index, _)| *index);
        }
        found.into_iter().map(|(_, made)| made).collect()
    }

    fn reason(&self) -> Unresolved {
        if self.dwarf_problem.is_some() && self.units.is_none() {
            Unresolved::DamagedDebugInfo
        } else if self.units.is_none() && self.go.is_none() && self.symbols.is_empty() {
            Unresolved::NoSymbols
        } else {
            Unresolved::NoFunctionThere
        }
    }

    /// Padding belongs to the function before it: that is where the return address of a
    /// function lies whose last instruction is a call that never returns.
    fn lookup_padding(&self, address: u64, names: &mut SymbolNames, answer: &mut Lookup) {
        let Some(end) = self.symbols.end_before(address) else {
            return;
        };
        let Some(inside) = end.checked_sub(1).filter(|_| address - end < MAX_PADDING) else {
            return;
        };
        let mut before = Lookup::default();
        if let Some(info) = &self.units {
            self.lookup_dwarf(info, inside, &mut before);
            let located = || Some(location(info.table_at(inside)?, address)?.0);
            answer.location = answer.location.take().or_else(located);
        }
        if before.function.is_none() {
            self.lookup_symbol(inside, names, &mut before);
        }
        answer.source = before.source;
        answer.function = before
            .function
            .map(|place| FunctionPlace { offset: distance(place.entry, address), ..place });
    }

    fn lookup_symbol(&self, address: u64, names: &mut SymbolNames, answer: &mut Lookup) {
        let Some(symbol) = self.symbols.covering(address) else {
            return;
        };
        answer.function = Some(self.place_in_symbol(symbol, address, names));
        answer.source = self.symbols.source(symbol);
    }

    fn lookup_plt(&self, address: u64, answer: &mut Lookup) {
        let Some(entry) = self.plt.covering(address) else {
            return;
        };
        let target = match entry.target {
            Target::Symbol(name) => self.plt.name(name).map(String::from_utf8_lossy),
            Target::Resolver(address) => {
                let resolver = self.symbols.starting_at(address);
                resolver.map(|resolver| self.symbols.name(resolver))
            }
        };
        answer.function = target.map(|target| FunctionPlace {
            name: format!("{}@plt", demangle(&target).as_deref().unwrap_or(&target)).into(),
            linkage_name: Some(format!("{target}@plt").into()),
            entry: entry.start,
            offset: distance(entry.start, address),
        });
        answer.source = answer.function.as_ref().map(|_| Source::Plt);
    }

    fn place_in_symbol(
        &self,
        symbol: &ElfSymbol,
        address: u64,
        names: &mut SymbolNames,
    ) -> FunctionPlace {
        let key = (symbol.table, symbol.name);
        let known = names.last.take().filter(|(last, _, _)| *last == key);
        let (name, linkage) = match known {
            Some((_, name, linkage)) => (name, linkage),
            None => self.names_of(symbol, names.mangled),
        };
        names.last = Some((key, Arc::clone(&name), Arc::clone(&linkage)));
        FunctionPlace {
            name,
            linkage_name: Some(linkage),
            entry: symbol.start,
            offset: distance(symbol.start, address),
        }
    }

    /// The name of a symbol to show, and that of the linker.
    fn names_of(&self, symbol: &ElfSymbol, mangled: bool) -> (Arc<str>, Arc<str>) {
        let linkage: Arc<str> = Arc::from(self.symbols.name(symbol));
        let shown = if mangled { None } else { demangle(&linkage).map(Arc::from) };
        (shown.unwrap_or_else(|| Arc::clone(&linkage)), linkage)
    }

    fn lookup_dwarf(&self, info: &Units, address: u64, answer: &mut Lookup) {
        let Some(unit) = info.table_at(address) else {
            return;
        };
        let located = location(unit, address);
        answer.location = located.as_ref().map(|(location, _)| location.clone());
        let Some(function) = unit.function_at(address) else {
            return;
        };
        answer.function = self.place_in_function(unit, &function, address);
        answer.source = Some(Source::Dwarf);
        let outer = answer.function.as_ref();
        answer.frames = frames(unit, &function, address, outer, located.as_ref());
    }

    /// Names the place in a function that DWARF describes.
    ///
    /// A part split off, as compilers do with code that seldom runs, belongs to the
    /// function: a place in it counts from the function's entry like any other, and may
    /// lie before it.
    fn place_in_function(
        &self,
        unit: &UnitTable,
        function: &Function,
        address: u64,
    ) -> Option<FunctionPlace> {
        let name = unit.names(function.linkage, function.plain);
        let name = name.as_ref();
        let entry = self.entry_of(unit, function, name);
        let symbol = self.symbols.starting_at(entry).map(|symbol| self.symbols.name(symbol));
        let symbol = symbol.filter(|symbol| name.may_be(symbol));
        let (shown, linkage) = match (&name.linkage, symbol) {
            // The symbol of a clone says more than the name of what it was cloned from.
            (Some(_), Some(symbol)) => (name.display.clone(), Some(name.shared(&symbol))),
            (Some(linkage), None) => (name.display.clone(), Some(Arc::clone(linkage))),
            (None, Some(symbol)) => (self.shown_name(name, &symbol), Some(name.shared(&symbol))),
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
    fn entry_of(&self, unit: &UnitTable, function: &Function, name: &FunctionName) -> u64 {
        if function.parts.len() < 2 {
            return function.entry;
        }
        let is_entry = |start: &u64| {
            let symbol = self.symbols.starting_at(*start);
            symbol.is_some_and(|symbol| name.is_exactly(&self.symbols.name(symbol)))
        };
        unit.part_starts(function).take(MAX_PARTS).find(is_entry).unwrap_or(function.entry)
    }
}

/// Takes function and line from the table of a program of Go.
fn lookup_go(go: &GoLineTable, address: u64, answer: &mut Lookup) {
    let Some(function) = go.covering(address) else {
        return;
    };
    let Some(name) = go.name(function).map(Arc::<str>::from) else {
        return;
    };
    answer.location = go.location(function, address);
    answer.source = Some(Source::GoLineTable);
    answer.function = Some(FunctionPlace {
        linkage_name: Some(Arc::clone(&name)),
        name,
        entry: function.entry,
        offset: distance(function.entry, address),
    });
}

/// The entries of the first object that has any; a debug file has only the headers of them.
fn plt_of(objects: &[&ElfFile], problems: &mut Vec<String>) -> PltEntries {
    let mut found = PltEntries::default();
    for object in objects {
        match PltEntries::read(object) {
            Ok(entries) if found.is_empty() => found = entries,
            Ok(_) => {}
            Err(error) => problems.push(format!("procedure linkage table: {error}")),
        }
    }
    found
}

/// How far an address lies behind an entry; negative before it.
fn distance(entry: u64, address: u64) -> i64 {
    address.wrapping_sub(entry) as i64
}

/// A place in the source and the whole path of its file.
type Located = (Location, Arc<str>);

/// The source line of an instruction, by the line table.
fn location(unit: &UnitTable, address: u64) -> Option<Located> {
    let row = unit.row_at(address).filter(|row| row.line > 0)?;
    let path = unit.path(row.path)?;
    let location = Location {
        directory: Arc::clone(&path.directory),
        file: Arc::clone(&path.file),
        line: row.line,
        column: Some(row.column).filter(|column| *column > 0),
    };
    Some((location, Arc::clone(&path.whole)))
}

/// The levels of inlined calls at an address in a function that is called `outer`.
fn frames(
    unit: &UnitTable,
    function: &Function,
    address: u64,
    outer: Option<&FunctionPlace>,
    located: Option<&Located>,
) -> Vec<Frame> {
    let mut path = located.map(|(_, path)| Arc::clone(path));
    let mut line = located.map(|(location, _)| location.line);
    let mut frames = Vec::new();
    for call in unit.calls_at(function, address) {
        let name = unit.names(call.linkage, call.plain);
        let (function, linkage_name) = (name.display.clone(), name.linkage.clone());
        frames.push(Frame { function, linkage_name, path, line });
        path = unit.path(call.path).map(|path| Arc::clone(&path.whole));
        line = Some(call.line).filter(|line| *line > 0);
    }
    if !frames.is_empty() {
        let function = outer.map(|place| Arc::clone(&place.name));
        let linkage_name = outer.and_then(|place| place.linkage_name.clone());
        frames.push(Frame { function, linkage_name, path, line });
    }
    frames
}
