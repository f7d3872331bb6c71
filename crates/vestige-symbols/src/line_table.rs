//! The line table of one unit: from an address to file, line and column.
//!
//! Follows DWARF 5, section 6.2. Rows of one address replace each other, and a
//! row holds up to the next one, as in GNU addr2line.

use std::ops::Range;

use gimli::{ColumnType, DebugLineOffset, LineProgramHeader, LineRow};

use crate::debug_info::{DebugInfo, Dwarf, GimliUnit, Slice};
use crate::debug_string::StringPosition;
use crate::range_map::{Interval, RangeMap};
use crate::text::Text;

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row {
    address: u64,
    pub(crate) file: u32,
    /// 0 when the instruction belongs to no line.
    pub(crate) line: u32,
    /// 0 when the table has no column for it.
    pub(crate) column: u32,
}

/// Rows that cover a range of addresses without a gap.
#[derive(Debug)]
struct Sequence {
    start: u64,
    end: u64,
    rows: Range<usize>,
}

/// The name of a file, and the directory it is relative to.
#[derive(Debug, Clone, Copy)]
struct File {
    name: Option<StringPosition>,
    directory: u64,
}

/// A decoded line table.
#[derive(Debug, Default)]
pub(crate) struct LineTable {
    rows: Vec<Row>,
    sequences: Vec<Sequence>,
    map: RangeMap,
    files: Vec<File>,
    directories: Vec<Option<StringPosition>>,
    /// Whether indexes start at 0, with the compilation directory as directory 0.
    counts_from_zero: bool,
}

impl LineTable {
    /// Decodes a line program; `None` when its header is damaged. Rows that
    /// follow damage are left out.
    pub(crate) fn read<'a>(
        info: &'a DebugInfo,
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        offset: DebugLineOffset<usize>,
    ) -> Option<Self> {
        let size = unit.header.address_size();
        // Units may share a program, and each decodes it for itself. No program has more
        // rows than bytes, so its length bounds the work.
        let mut bytes_left = info.limits.line_bytes.meter();
        bytes_left.take(1)?;
        let program = dwarf.debug_line.program(offset, size, None, None).ok()?;
        bytes_left.take(program.header().unit_length() as u64)?;
        let mut table = Self::with_files(dwarf, unit, program.header());
        let mut rows = program.rows();
        let mut first = 0;
        while let Ok(Some((_, row))) = rows.next_row() {
            if row.end_sequence() {
                table.end_sequence(first, row.address(), &info.text);
                first = table.rows.len();
            } else {
                table.add_row(first, row);
            }
        }
        // Rows without an end cover nothing that is known.
        table.rows.truncate(first);
        table.index();
        Some(table)
    }

    fn with_files<'a>(
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        header: &LineProgramHeader<Slice<'a>>,
    ) -> Self {
        let position = |value| StringPosition::of(dwarf, unit, value);
        let directories = header.include_directories().iter().copied().map(position).collect();
        let files = header.file_names().iter().map(|file| File {
            name: position(file.path_name()),
            directory: file.directory_index(),
        });
        let files = files.collect();
        let counts_from_zero = header.version() >= 5;
        Self { files, directories, counts_from_zero, ..Self::default() }
    }

    fn add_row(&mut self, first: usize, row: &LineRow) {
        let narrow = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        let new = Row {
            address: row.address(),
            file: narrow(row.file_index()),
            line: row.line().map_or(0, |line| narrow(line.get())),
            column: match row.column() {
                ColumnType::LeftEdge => 0,
                ColumnType::Column(column) => narrow(column.get()),
            },
        };
        match self.rows.get_mut(first..).and_then(|rows| rows.last_mut()) {
            Some(last) if last.address == new.address => *last = new,
            _ => self.rows.push(new),
        }
    }

    fn end_sequence(&mut self, first: usize, end: u64, text: &Text) {
        let rows = self.rows.get_mut(first..).unwrap_or_default();
        // The specification wants ascending addresses; not every producer knows.
        if !rows.is_sorted_by_key(|row| row.address) {
            rows.sort_by_key(|row| row.address);
        }
        let start = rows.first().map_or(end, |row| row.address);
        if start < end && text.contains(start) {
            let rows = first..self.rows.len();
            self.sequences.push(Sequence { start, end, rows });
        } else {
            self.rows.truncate(first);
        }
    }

    fn index(&mut self) {
        let intervals = self.sequences.iter().enumerate().map(|(index, sequence)| Interval {
            start: sequence.start,
            end: sequence.end,
            rank: u64::MAX - (sequence.end - sequence.start),
            value: index as u32,
        });
        self.map = RangeMap::build(intervals.collect());
    }

    /// The row that covers `address`.
    pub(crate) fn find(&self, address: u64) -> Option<Row> {
        let sequence = self.sequences.get(self.map.find(address)? as usize)?;
        let rows = self.rows.get(sequence.rows.clone())?;
        let after = rows.partition_point(|row| row.address <= address);
        rows.get(after.checked_sub(1)?).copied()
    }

    /// The ranges of all sequences.
    pub(crate) fn code_ranges(&self) -> Vec<(u64, u64)> {
        self.sequences.iter().map(|sequence| (sequence.start, sequence.end)).collect()
    }

    /// The full path of a file of the table, made absolute where `base`, the
    /// compilation directory, allows it.
    pub(crate) fn path(&self, dwarf: &Dwarf<'_>, file: u64, base: Option<&str>) -> Option<String> {
        let index = if self.counts_from_zero { Some(file) } else { file.checked_sub(1) };
        let file = self.files.get(usize::try_from(index?).ok()?)?;
        let name = String::from_utf8_lossy(file.name?.read(dwarf)?);
        let mut path = base.unwrap_or_default().to_owned();
        if let Some(directory) = self.directory(file.directory) {
            push_path(&mut path, &String::from_utf8_lossy(directory.read(dwarf)?));
        }
        push_path(&mut path, &name);
        Some(path)
    }

    fn directory(&self, index: u64) -> Option<StringPosition> {
        let index = if self.counts_from_zero { Some(index) } else { index.checked_sub(1) };
        self.directories.get(usize::try_from(index?).ok()?).copied().flatten()
    }
}

/// Appends a path to a directory, or replaces it when the path is absolute.
fn push_path(path: &mut String, tail: &str) {
    if is_absolute(tail) {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(tail);
}

/// Absolute on the system of the compiler, which may have been Windows.
fn is_absolute(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\'));
    drive || path.starts_with('/') || path.starts_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_relative_and_keeps_absolute_paths() {
        let join = |base: &str, tail| {
            let mut path = base.to_owned();
            push_path(&mut path, tail);
            path
        };
        assert_eq!(join("/src", "a.c"), "/src/a.c");
        assert_eq!(join("/", "a.c"), "/a.c");
        assert_eq!(join("", "a.c"), "a.c");
        assert_eq!(join("/src", "/usr/a.h"), "/usr/a.h");
        assert_eq!(join("/src", "C:\\x\\a.c"), "C:\\x\\a.c");
    }
}
