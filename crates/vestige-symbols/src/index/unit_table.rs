//! The functions, lines and inlined calls of one unit, in one flat block of bytes.
//!
//! A block refers to nothing outside of itself, so it is the same whether it was just
//! decoded from debug information or read from an index. All numbers are little-endian.
//! The block starts with seven counts of 32 bits; then come, each a plain array,
//!
//! * rows: where each starts (64 bits), then path, line and column of each (3 x 32);
//! * steps of functions: where each starts (64), then the function of each (32);
//! * functions: entry (64), linkage name, plain name, first part, number of parts, first
//!   step of its calls, number of those (6 x 32);
//! * parts: where each range of a function starts (64);
//! * steps of calls: where each starts (64), then the call of each (32);
//! * calls: caller, linkage name, plain name, path and line of the call (5 x 32);
//! * strings: length (16), bytes in UTF-8.
//!
//! A step or row holds up to the next one; what it holds may be nothing. A string is
//! named by its offset plus 1, so that 0 is none.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::names::function_name::FunctionName;
use crate::names::source_path::SourcePath;

/// The value of a step where nothing is.
pub(crate) const NOTHING: u32 = u32::MAX;
/// Each lookup gives all levels, so their number must not be the input's choice.
const MAX_LEVELS: usize = 512;
const COUNTS: usize = 7;
/// The width of an element of each array, in the order of the block.
const WIDTHS: [usize; 10] = [8, 12, 8, 4, 32, 8, 8, 4, 20, 1];

/// A place in the source; the path is as absolute as debug information makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    /// A string of the table.
    pub(crate) path: u32,
    /// 0 when the instruction belongs to no line.
    pub(crate) line: u32,
    /// 0 when the table has no column for it.
    pub(crate) column: u32,
}

/// A function that has code of its own.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) entry: u64,
    pub(crate) linkage: u32,
    pub(crate) plain: u32,
    /// Its ranges, as indexes of parts.
    pub(crate) parts: Range<u32>,
    /// Its steps of calls, as indexes of those.
    pub(crate) calls: Range<u32>,
}

/// One inlined call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    /// The call that this one is inlined in, or [`NOTHING`]; always of a lower index.
    pub(crate) parent: u32,
    pub(crate) linkage: u32,
    pub(crate) plain: u32,
    /// The file of the call, a string of the table.
    pub(crate) path: u32,
    /// The line of the call; 0 when it has none.
    pub(crate) line: u32,
}

/// Where the arrays of a block lie.
#[derive(Debug, Clone)]
struct Layout {
    rows: Steps,
    functions_at: Steps,
    functions: Range<usize>,
    parts: Range<usize>,
    calls_at: Steps,
    calls: Range<usize>,
    strings: Range<usize>,
}

/// Ascending addresses, and beside them what starts there.
#[derive(Debug, Clone)]
struct Steps {
    starts: Range<usize>,
    values: Range<usize>,
}

/// The table of one unit.
#[derive(Debug)]
pub(crate) struct UnitTable {
    data: Vec<u8>,
    layout: Layout,
    /// What was made of pairs of a linkage name and a plain name.
    names: Mutex<HashMap<(u32, u32), Arc<FunctionName>>>,
    /// What was made of paths.
    paths: Mutex<HashMap<u32, Option<Arc<SourcePath>>>>,
}

impl Layout {
    fn of(data: &[u8]) -> Option<Self> {
        let count = |index: usize| Some(read_u32(data, index.checked_mul(4)?)? as usize);
        let (rows, steps, functions) = (count(0)?, count(1)?, count(2)?);
        let (parts, call_steps, calls, strings) = (count(3)?, count(4)?, count(5)?, count(6)?);
        let counts =
            [rows, rows, steps, steps, functions, parts, call_steps, call_steps, calls, strings];
        let mut end = COUNTS * 4;
        let mut next = |index: usize| {
            let start = end;
            end = start.checked_add(counts.get(index)?.checked_mul(*WIDTHS.get(index)?)?)?;
            Some(start..end)
        };
        let layout = Self {
            rows: Steps { starts: next(0)?, values: next(1)? },
            functions_at: Steps { starts: next(2)?, values: next(3)? },
            functions: next(4)?,
            parts: next(5)?,
            calls_at: Steps { starts: next(6)?, values: next(7)? },
            calls: next(8)?,
            strings: next(9)?,
        };
        (end == data.len()).then_some(layout)
    }
}

impl Steps {
    /// The last of some steps that starts at or before `address`.
    fn find(&self, data: &[u8], among: Range<usize>, address: u64) -> Option<usize> {
        let starts = data.get(self.starts.clone())?;
        let (mut low, mut high) = (among.start, among.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if read_u64(starts, middle.checked_mul(8)?)? <= address {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low > among.start).then(|| low - 1)
    }

    fn all(&self) -> Range<usize> {
        0..self.starts.len() / 8
    }

    /// The value, of `width` bytes, of a step.
    fn value<'a>(&self, data: &'a [u8], step: usize, width: usize) -> Option<&'a [u8]> {
        element(data.get(self.values.clone())?, step, width)
    }
}

impl UnitTable {
    /// A table in the form of bytes; `None` when they are no table.
    pub(crate) fn from_bytes(data: Vec<u8>) -> Option<Self> {
        let layout = Layout::of(&data)?;
        Some(Self { data, layout, names: Mutex::default(), paths: Mutex::default() })
    }

    fn empty() -> Self {
        let nowhere = || Steps { starts: 0..0, values: 0..0 };
        let layout = Layout {
            rows: nowhere(),
            functions_at: nowhere(),
            functions: 0..0,
            parts: 0..0,
            calls_at: nowhere(),
            calls: 0..0,
            strings: 0..0,
        };
        Self { data: Vec::new(), layout, names: Mutex::default(), paths: Mutex::default() }
    }

    /// The bytes of the table, to be kept in an index.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.data
    }

    /// The row that covers `address`.
    pub(crate) fn row_at(&self, address: u64) -> Option<Row> {
        let rows = &self.layout.rows;
        let step = rows.find(&self.data, rows.all(), address)?;
        let row = rows.value(&self.data, step, 12)?;
        let field = |index: usize| read_u32(row, index * 4);
        Some(Row { path: field(0)?, line: field(1)?, column: field(2)? })
    }

    /// The innermost function that covers `address`.
    pub(crate) fn function_at(&self, address: u64) -> Option<Function> {
        let steps = &self.layout.functions_at;
        let step = steps.find(&self.data, steps.all(), address)?;
        let index = read_u32(steps.value(&self.data, step, 4)?, 0)?;
        let record = element(self.array(&self.layout.functions)?, index as usize, 32)?;
        let field = |index: usize| read_u32(record, 8 + index * 4);
        let (first_part, first_call) = (field(2)?, field(4)?);
        Some(Function {
            entry: read_u64(record, 0)?,
            linkage: field(0)?,
            plain: field(1)?,
            parts: first_part..first_part.checked_add(field(3)?)?,
            calls: first_call..first_call.checked_add(field(5)?)?,
        })
    }

    /// Where the ranges of a function start, in the order of debug information.
    pub(crate) fn part_starts(&self, function: &Function) -> impl Iterator<Item = u64> + '_ {
        let parts = self.array(&self.layout.parts).unwrap_or_default();
        function.parts.clone().map_while(move |part| read_u64(parts, (part as usize) * 8))
    }

    /// The calls inlined in `function` that cover `address`, innermost first.
    pub(crate) fn calls_at(
        &self,
        function: &Function,
        address: u64,
    ) -> impl Iterator<Item = Call> + '_ {
        let steps = &self.layout.calls_at;
        let among = function.calls.start as usize..function.calls.end as usize;
        let innermost = || {
            let step = steps.find(&self.data, among, address)?;
            self.call(read_u32(steps.value(&self.data, step, 4)?, 0)?)
        };
        // A block from a file may hold a circle.
        std::iter::successors(innermost(), |call| self.call(call.parent)).take(MAX_LEVELS)
    }

    fn call(&self, index: u32) -> Option<Call> {
        let record = element(self.array(&self.layout.calls)?, index as usize, 20)?;
        let field = |index: usize| read_u32(record, index * 4);
        Some(Call {
            parent: field(0)?,
            linkage: field(1)?,
            plain: field(2)?,
            path: field(3)?,
            line: field(4)?,
        })
    }

    /// A string of the table; `None` for number 0.
    pub(crate) fn string(&self, number: u32) -> Option<&str> {
        let strings = self.array(&self.layout.strings)?;
        let start = number.checked_sub(1)? as usize;
        let size = strings.get(start..start.checked_add(2)?)?;
        let size = usize::from(u16::from_le_bytes(size.try_into().ok()?));
        let start = start.checked_add(2)?;
        std::str::from_utf8(strings.get(start..start.checked_add(size)?)?).ok()
    }

    /// The names that a pair of strings stands for, demangled at the first call.
    pub(crate) fn names(&self, linkage: u32, plain: u32) -> Arc<FunctionName> {
        let make = || Arc::new(FunctionName::of(self.string(linkage), self.string(plain)));
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(names.entry((linkage, plain)).or_insert_with(make))
    }

    /// The path that a string is, split at the first call.
    pub(crate) fn path(&self, number: u32) -> Option<Arc<SourcePath>> {
        let make = || self.string(number).map(|path| Arc::new(SourcePath::new(path)));
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        paths.entry(number).or_insert_with(make).clone()
    }

    fn array(&self, place: &Range<usize>) -> Option<&[u8]> {
        self.data.get(place.clone())
    }
}

fn element(array: &[u8], index: usize, width: usize) -> Option<&[u8]> {
    let start = index.checked_mul(width)?;
    array.get(start..start.checked_add(width)?)
}

fn read_u32(data: &[u8], offset: usize) -> Option<u32> {
    let bytes = data.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn read_u64(data: &[u8], offset: usize) -> Option<u64> {
    let bytes = data.get(offset..offset.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Collects what a table is to hold.
#[derive(Debug, Default)]
pub(crate) struct UnitTableWriter {
    pub(crate) rows: Vec<(u64, Row)>,
    pub(crate) functions_at: Vec<(u64, u32)>,
    pub(crate) functions: Vec<Function>,
    pub(crate) parts: Vec<u64>,
    pub(crate) calls_at: Vec<(u64, u32)>,
    pub(crate) calls: Vec<Call>,
    strings: Vec<u8>,
}

impl UnitTableWriter {
    /// Adds a string and gives its number; one that is too long counts as none.
    pub(crate) fn add_string(&mut self, text: &str) -> u32 {
        let number = u32::try_from(self.strings.len() + 1).ok();
        let (Some(number), Ok(size)) = (number, u16::try_from(text.len())) else {
            return 0;
        };
        self.strings.extend(size.to_le_bytes());
        self.strings.extend(text.as_bytes());
        number
    }

    /// The table of all that was collected.
    pub(crate) fn finish(self) -> UnitTable {
        UnitTable::from_bytes(self.encode()).unwrap_or_else(UnitTable::empty)
    }

    fn encode(&self) -> Vec<u8> {
        let counts = [
            self.rows.len(),
            self.functions_at.len(),
            self.functions.len(),
            self.parts.len(),
            self.calls_at.len(),
            self.calls.len(),
            self.strings.len(),
        ];
        let size = self.rows.len() * 20
            + (self.functions_at.len() + self.calls_at.len()) * 12
            + self.functions.len() * 32
            + self.parts.len() * 8
            + self.calls.len() * 20;
        let mut data = Vec::with_capacity(COUNTS * 4 + size + self.strings.len());
        for count in counts {
            // More than that makes no table: its length will not fit.
            put(&mut data, [u32::try_from(count).unwrap_or(u32::MAX)]);
        }
        self.rows.iter().for_each(|(start, _)| data.extend(start.to_le_bytes()));
        self.rows.iter().for_each(|(_, row)| put(&mut data, [row.path, row.line, row.column]));
        put_steps(&mut data, &self.functions_at);
        for one in &self.functions {
            data.extend(one.entry.to_le_bytes());
            let (parts, calls) = (&one.parts, &one.calls);
            put(&mut data, [one.linkage, one.plain, parts.start, parts.end - parts.start]);
            put(&mut data, [calls.start, calls.end - calls.start]);
        }
        self.parts.iter().for_each(|start| data.extend(start.to_le_bytes()));
        put_steps(&mut data, &self.calls_at);
        for one in &self.calls {
            put(&mut data, [one.parent, one.linkage, one.plain, one.path, one.line]);
        }
        data.extend(&self.strings);
        data
    }
}

fn put<const N: usize>(data: &mut Vec<u8>, values: [u32; N]) {
    values.iter().for_each(|value| data.extend(value.to_le_bytes()));
}

fn put_steps(data: &mut Vec<u8>, steps: &[(u64, u32)]) {
    steps.iter().for_each(|(start, _)| data.extend(start.to_le_bytes()));
    steps.iter().for_each(|(_, value)| data.extend(value.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function from 0x10 to 0x30 with a call inlined from 0x18 to 0x20.
    fn table() -> UnitTable {
        let mut writer = UnitTableWriter::default();
        let (outer, inner) = (writer.add_string("outer"), writer.add_string("inner"));
        let path = writer.add_string("/src/a.c");
        writer.rows = vec![
            (0x10, Row { path, line: 3, column: 1 }),
            (0x30, Row { path: 0, line: 0, column: 0 }),
        ];
        writer.functions_at = vec![(0x10, 0), (0x30, NOTHING)];
        writer.functions =
            vec![Function { entry: 0x10, linkage: 0, plain: outer, parts: 0..1, calls: 0..2 }];
        writer.parts = vec![0x10];
        writer.calls_at = vec![(0x18, 0), (0x20, NOTHING)];
        writer.calls = vec![Call { parent: NOTHING, linkage: 0, plain: inner, path, line: 7 }];
        writer.finish()
    }

    /// All that a lookup asks; the number of inlined calls.
    fn ask(table: &UnitTable, address: u64) -> usize {
        let path = table.row_at(address).and_then(|row| table.path(row.path));
        let Some(function) = table.function_at(address) else {
            return path.map_or(0, |_| 0);
        };
        table.names(function.linkage, function.plain);
        let parts = table.part_starts(&function).count();
        assert!(parts <= table.bytes().len());
        let calls: Vec<_> = table.calls_at(&function, address).collect();
        calls.iter().for_each(|call| drop(table.names(call.linkage, call.plain)));
        calls.len()
    }

    #[test]
    fn a_table_answers_what_was_written() {
        let table = table();
        let function = table.function_at(0x19).unwrap();
        assert_eq!(table.string(function.plain), Some("outer"));
        assert_eq!(table.row_at(0x2f).map(|row| row.line), Some(3));
        assert_eq!(table.row_at(0x30).map(|row| row.line), Some(0));
        assert!(table.function_at(0x30).is_none() && table.function_at(0xf).is_none());
        assert_eq!([0x17, 0x18, 0x1f, 0x20].map(|at| ask(&table, at)), [0, 1, 1, 0]);
    }

    #[test]
    fn wrong_bytes_give_fewer_answers_and_no_panic() {
        let whole = table().bytes().to_vec();
        for end in 0..whole.len() {
            assert!(UnitTable::from_bytes(whole[..end].to_vec()).is_none());
        }
        for index in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, whole[index] ^ 1, whole[index] ^ 0x40] {
                let mut data = whole.clone();
                data[index] = value;
                let Some(table) = UnitTable::from_bytes(data) else {
                    continue;
                };
                for address in [0, 0x10, 0x18, 0x20, 0x30, u64::MAX] {
                    assert!(ask(&table, address) <= MAX_LEVELS);
                }
            }
        }
    }
}
