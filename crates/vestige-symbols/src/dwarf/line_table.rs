//! The line table of one unit: from an address to file, line and column.
//!
//! Follows DWARF 5, section 6.2. Rows of one address replace each other, and a
//! row holds up to the next one, as in GNU addr2line.

use std::ops::Range;

use gimli::{AttributeValue, ColumnType, DebugLine, DebugLineOffset, LineProgramHeader, LineRow};
use gimli::{Reader, SectionId};

use crate::budget::Budget;
use crate::dwarf::decoder::{GimliUnit, Slice};
use crate::dwarf::source_paths::{NamedFile, SourcePaths};
use crate::dwarf::strings::{offset_in, StringPosition};
use crate::dwarf::view::Dwarf;
use crate::elf::executable_ranges::ExecutableRanges;
use crate::index::unit_table::{self as table, UnitTableWriter};
use crate::range_map::{Interval, RangeMap};

/// What follows the end of a sequence.
const NO_ROW: table::Row = table::Row { path: 0, line: 0, column: 0 };

/// Rows of one unit, many times what a compiler writes: a compressed section may hold more
/// than memory does.
const MOST_ROWS: usize = 1 << 22;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    address: u64,
    file: u32,
    /// 0 when the instruction belongs to no line.
    line: u32,
    /// 0 when the table has no column for it.
    column: u32,
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
        (most_bytes, code): (&Budget, &ExecutableRanges),
        dwarf: &Dwarf<'a>,
        unit: &GimliUnit<'a>,
        offset: DebugLineOffset<usize>,
    ) -> Option<Self> {
        let size = unit.header.address_size();
        // Units may share a program, and each decodes it for itself. No program has more
        // rows than bytes, so its length bounds the work.
        let mut bytes_left = most_bytes.meter();
        bytes_left.take(1)?;
        let range = program_range(dwarf, offset.0)?;
        bytes_left.take(range.len() as u64)?;
        let bytes = dwarf.line_program(&range)?;
        let section = DebugLine::from(Slice::new(&bytes, dwarf.endian()));
        let program = section.program(DebugLineOffset(0), size, None, None).ok()?;
        let position = |value| {
            let inline = |text: &Slice<'_>| Some(range.start + offset_in(&bytes, text)?);
            StringPosition::of(dwarf, unit, value, |text| inline(text).map(StringPosition::Line))
        };
        let mut table = Self::with_files(position, program.header());
        let mut rows = program.rows();
        let mut first = 0;
        while table.rows.len() < MOST_ROWS {
            let Ok(Some((_, row))) = rows.next_row() else { break };
            if row.end_sequence() {
                table.end_sequence(first, row.address(), code);
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
        position: impl Fn(AttributeValue<Slice<'a>>) -> Option<StringPosition>,
        header: &LineProgramHeader<Slice<'a>>,
    ) -> Self {
        let directories = header.include_directories().iter().copied().map(&position).collect();
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

    fn end_sequence(&mut self, first: usize, end: u64, code: &ExecutableRanges) {
        let rows = self.rows.get_mut(first..).unwrap_or_default();
        // The specification wants ascending addresses; not every producer knows.
        if !rows.is_sorted_by_key(|row| row.address) {
            rows.sort_by_key(|row| row.address);
        }
        let start = rows.first().map_or(end, |row| row.address);
        if start < end && code.contains(start) {
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

    /// Writes the rows in the order of addresses, each up to the next.
    pub(crate) fn write(
        &self,
        dwarf: &Dwarf<'_>,
        paths: &mut SourcePaths<'_>,
        writer: &mut UnitTableWriter,
    ) {
        for segment in self.map.segments() {
            let Some(sequence) = self.sequences.get(segment.value as usize) else {
                continue;
            };
            let rows = self.rows.get(sequence.rows.clone()).unwrap_or_default();
            let first = rows.partition_point(|row| row.address <= segment.start).saturating_sub(1);
            let last = rows.partition_point(|row| row.address < segment.end);
            for row in rows.get(first..last).unwrap_or_default() {
                let path = {
                    let file = u64::from(row.file);
                    paths.number(dwarf, file, || self.file(file), writer)
                };
                let found = table::Row { path, line: row.line, column: row.column };
                push_row(&mut writer.rows, row.address.max(segment.start), found);
            }
            push_row(&mut writer.rows, segment.end, NO_ROW);
        }
    }

    /// The ranges of all sequences.
    pub(crate) fn code_ranges(&self) -> Vec<(u64, u64)> {
        self.sequences.iter().map(|sequence| (sequence.start, sequence.end)).collect()
    }

    /// The name of a file of the table, and the directory it is relative to.
    pub(crate) fn file(&self, index: u64) -> Option<NamedFile> {
        let file = self.files.get(self.position(index)?)?;
        let directory = self.position(file.directory).and_then(|at| self.directories.get(at));
        Some((file.name?, directory.copied().flatten()))
    }

    fn position(&self, index: u64) -> Option<usize> {
        let index = if self.counts_from_zero { Some(index) } else { index.checked_sub(1) };
        usize::try_from(index?).ok()
    }
}

/// The bytes of the line program at an offset of `.debug_line`.
fn program_range(dwarf: &Dwarf<'_>, offset: usize) -> Option<Range<usize>> {
    let bytes = dwarf.line_at(offset)?;
    let mut rest = Slice::new(bytes, dwarf.endian());
    let (length, format) = rest.read_initial_length().ok()?;
    let header = usize::from(format.initial_length_size());
    let end = offset.checked_add(header)?.checked_add(length)?;
    (end <= dwarf.section_size(SectionId::DebugLine)).then_some(offset..end)
}

/// Adds a row, unless it says what the one before says.
fn push_row(rows: &mut Vec<(u64, table::Row)>, start: u64, row: table::Row) {
    match rows.last_mut() {
        Some((last_start, last)) if *last_start == start => *last = row,
        Some((_, last)) if *last == row => {}
        _ => rows.push((start, row)),
    }
}
