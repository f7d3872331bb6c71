//! The functions of one unit, and the calls inlined in them.
//!
//! Follows DWARF 5, sections 2.17, 3.3 and 3.3.8.2. Functions are taken at any depth: a
//! method lies in its class, a lambda in the function that creates it.

use std::collections::HashMap;

use crate::budget::Meter;
use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::decoder::GimliUnit;
use crate::dwarf::entry::{DieAttributes, DieName};
use crate::dwarf::line_table::LineTable;
use crate::dwarf::origins::DiePlace;
use crate::dwarf::source_paths::SourcePaths;
use crate::dwarf::view::Dwarf;
use crate::index::unit_table::{Call, Function, UnitTableWriter, NOTHING};
use crate::range_map::{Interval, RangeMap};

/// What an entry that is open at a point of the walk means for the calls in it.
#[derive(Debug, Clone, Copy)]
struct Open {
    depth: isize,
    /// The function that the entry is or lies in; none when that has no code.
    function: Option<u32>,
    /// The call, when the entry is an inlined one.
    call: Option<u32>,
    /// How many calls are inlined in each other here.
    level: usize,
}

/// Where a function or a call is, and how it compares to others there.
type Ranked<K> = Interval<(K, u64)>;

/// The files that calls name: those of the line table, which may be in another object file
/// than the functions.
pub(crate) struct SourceFiles<'a, 'b> {
    pub(crate) dwarf: &'b Dwarf<'a>,
    pub(crate) lines: &'b LineTable,
    pub(crate) paths: &'b mut SourcePaths<'a>,
}

/// Decodes the functions of one unit into its table.
pub(crate) struct FunctionReader<'a, 'b, 'c> {
    info: &'a DebugInfo,
    dwarf: &'b Dwarf<'a>,
    unit: &'b GimliUnit<'a>,
    unit_index: usize,
    files: SourceFiles<'c, 'b>,
    writer: &'b mut UnitTableWriter,
    open: Vec<Open>,
    functions: Vec<Ranked<isize>>,
    /// The ranges of calls, by the function they are inlined in.
    calls: Vec<(u32, Ranked<usize>)>,
    names: Names<'a, 'b>,
}

/// Strings and names already in the table, by where they were found.
struct Names<'a, 'b> {
    info: &'a DebugInfo,
    dwarf: &'b Dwarf<'a>,
    strings: HashMap<(usize, usize), u32>,
    origins: HashMap<DiePlace, (u32, u32)>,
    strings_left: Meter<'a>,
    attributes_left: Meter<'a>,
}

impl<'a, 'b, 'c> FunctionReader<'a, 'b, 'c> {
    pub(crate) fn new(
        info: &'a DebugInfo,
        dwarf: &'b Dwarf<'a>,
        (unit_index, unit): (usize, &'b GimliUnit<'a>),
        files: SourceFiles<'c, 'b>,
        writer: &'b mut UnitTableWriter,
    ) -> Self {
        let names = Names {
            info,
            dwarf,
            strings: HashMap::new(),
            origins: HashMap::new(),
            strings_left: info.limits.string_bytes.meter(),
            attributes_left: info.limits.name_attributes.meter(),
        };
        Self {
            info,
            dwarf,
            unit,
            unit_index,
            files,
            writer,
            open: Vec::new(),
            functions: Vec::new(),
            calls: Vec::new(),
            names,
        }
    }

    /// Decodes the unit; what follows damage in it is left out.
    pub(crate) fn read(mut self) {
        // Stops at damage, with `None`; what was found before it counts.
        let _ = self.collect();
        let functions = std::mem::take(&mut self.functions);
        self.writer.functions_at = RangeMap::build(functions).steps(NOTHING);
        self.write_calls();
    }

    fn collect(&mut self) -> Option<()> {
        let mut attributes_left = self.info.limits.function_attributes.meter();
        let mut ranges_left = self.info.limits.range_entries.meter();
        let mut raw = self.unit.entries_raw(None).ok()?;
        while !raw.is_empty() {
            let depth = raw.next_depth();
            let Some(abbreviation) = raw.read_abbreviation().ok()? else {
                continue;
            };
            while self.open.last().is_some_and(|open| open.depth >= depth) {
                self.open.pop();
            }
            attributes_left.take(1 + abbreviation.attributes().len() as u64)?;
            let is_function = abbreviation.tag() == gimli::DW_TAG_subprogram;
            if !is_function && abbreviation.tag() != gimli::DW_TAG_inlined_subroutine {
                raw.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            let inside = self.open.last().copied();
            if !is_function && inside.is_none_or(|open| open.function.is_none()) {
                raw.skip_attributes(abbreviation.attributes()).ok()?;
                continue;
            }
            let attributes = DieAttributes::read(&mut raw, abbreviation)?;
            let text = &self.info.text;
            let ranges = attributes.code_ranges(self.dwarf, self.unit, text, &mut ranges_left)?;
            match inside.filter(|_| !is_function) {
                Some(inside) => self.add_call(depth, inside, &attributes, &ranges)?,
                None => self.add_function(depth, &attributes, &ranges)?,
            }
        }
        Some(())
    }

    fn add_function(
        &mut self,
        depth: isize,
        attributes: &DieAttributes<'a>,
        ranges: &[(u64, u64)],
    ) -> Option<()> {
        if ranges.is_empty() {
            // Calls inlined in a function without code are nowhere.
            self.open.push(Open { depth, function: None, call: None, level: 0 });
            return Some(());
        }
        let function = u32::try_from(self.writer.functions.len()).ok()?;
        let first = u32::try_from(self.writer.parts.len()).ok()?;
        for (start, end) in ranges {
            // The deeper function is the inner one; of two beside each other the narrower.
            let rank = (depth, u64::MAX - (end - start));
            self.functions.push(Interval { start: *start, end: *end, rank, value: function });
            self.writer.parts.push(*start);
        }
        let (linkage, plain) =
            self.names.of(self.writer, self.unit, self.unit_index, attributes)?;
        self.writer.functions.push(Function {
            entry: attributes.entry_address(self.dwarf, self.unit, ranges),
            linkage,
            plain,
            parts: first..u32::try_from(self.writer.parts.len()).ok()?,
            calls: 0..0,
        });
        self.open.push(Open { depth, function: Some(function), call: None, level: 0 });
        Some(())
    }

    fn add_call(
        &mut self,
        depth: isize,
        inside: Open,
        attributes: &DieAttributes<'a>,
        ranges: &[(u64, u64)],
    ) -> Option<()> {
        let (function, level) = (inside.function?, inside.level + 1);
        let call = u32::try_from(self.writer.calls.len()).ok()?;
        let (linkage, plain) =
            self.names.of(self.writer, self.unit, self.unit_index, attributes)?;
        let file = attributes.call_file;
        let SourceFiles { dwarf, lines, paths } = &mut self.files;
        let path = paths.number(dwarf, file, || lines.file(file), self.writer);
        self.writer.calls.push(Call {
            parent: inside.call.unwrap_or(NOTHING),
            linkage,
            plain,
            path,
            line: u32::try_from(attributes.call_line).unwrap_or(0),
        });
        self.open.push(Open { depth, function: Some(function), call: Some(call), level });
        self.calls.extend(ranges.iter().map(|(start, end)| {
            let rank = (level, u64::MAX - (end - start));
            (function, Interval { start: *start, end: *end, rank, value: call })
        }));
        Some(())
    }

    /// Settles which call is the innermost at each address of each function.
    fn write_calls(&mut self) {
        let mut calls = std::mem::take(&mut self.calls);
        calls.sort_by_key(|(function, _)| *function);
        for group in calls.chunk_by(|one, other| one.0 == other.0) {
            let Some((function, _)) = group.first() else {
                continue;
            };
            let map = RangeMap::build(group.iter().map(|(_, interval)| *interval).collect());
            let first = self.writer.calls_at.len() as u32;
            self.writer.calls_at.extend(map.steps(NOTHING));
            if let Some(function) = self.writer.functions.get_mut(*function as usize) {
                function.calls = first..self.writer.calls_at.len() as u32;
            }
        }
    }
}

impl<'a> Names<'a, '_> {
    /// The names of an entry: its own, else those of the entries it completes.
    fn of(
        &mut self,
        writer: &mut UnitTableWriter,
        unit: &GimliUnit<'a>,
        unit_index: usize,
        attributes: &DieAttributes<'a>,
    ) -> Option<(u32, u32)> {
        let own = attributes.names(self.dwarf, unit);
        let mut names = (self.string(writer, own.linkage)?, self.string(writer, own.plain)?);
        if names.0 != 0 && names.1 != 0 {
            return Some(names);
        }
        if let Some(origin) = DiePlace::of_origin(attributes, self.info, unit_index, false) {
            let found = self.of_origin(writer, origin)?;
            names.0 = if names.0 == 0 { found.0 } else { names.0 };
            names.1 = if names.1 == 0 { found.1 } else { names.1 };
        }
        Some(names)
    }

    fn of_origin(&mut self, writer: &mut UnitTableWriter, origin: DiePlace) -> Option<(u32, u32)> {
        if let Some(known) = self.origins.get(&origin) {
            return Some(*known);
        }
        let left = &mut self.attributes_left;
        let name = DieName::of(self.info, self.dwarf, origin, left)?;
        let names = (self.string(writer, name.linkage)?, self.string(writer, name.plain)?);
        self.origins.insert(origin, names);
        Some(names)
    }

    fn string(&mut self, writer: &mut UnitTableWriter, text: Option<&[u8]>) -> Option<u32> {
        let Some(text) = text else {
            return Some(0);
        };
        // Equal strings are nearly always one in the file.
        let place = (text.as_ptr() as usize, text.len());
        if let Some(known) = self.strings.get(&place) {
            return Some(*known);
        }
        self.strings_left.take(text.len() as u64 + 2)?;
        let number = writer.add_string(&String::from_utf8_lossy(text));
        self.strings.insert(place, number);
        Some(number)
    }
}
