//! Blocks of a timeline as a page holds them: by rows and depths, in few bytes.

use std::collections::BTreeMap;

use super::blocks::Block;
use super::packing::put;

/// Row, depth, flags, function, start, duration, number, busy time: widths in bytes.
const WIDTHS: [usize; 8] = [4, 2, 1, 4, 8, 8, 4, 8];
const BLOCK: usize = 39;
const ROW: usize = 0;
const DEPTH: usize = 1;
const FLAGS: usize = 2;
const FUNCTION: usize = 3;
const START: usize = 4;
const DURATION: usize = 5;
const COUNT: usize = 6;
const BUSY: usize = 7;
/// How many columns come out.
const COLUMNS: usize = 6;

/// Packs blocks that come as columns (see [`super::columns`]), those of a row and a depth in
/// the order of time. `None` if the bytes are no columns, or two blocks of a group overlap.
#[must_use]
pub fn grouped(columns: &[u8]) -> Option<Vec<u8>> {
    if columns.len() % BLOCK != 0 {
        return None;
    }
    let table = Table { columns, blocks: columns.len() / BLOCK };
    let mut groups = Groups::default();
    for at in 0..table.blocks {
        let get = |column| table.get(column, at);
        let block = Block {
            row: get(ROW)? as u32,
            depth: get(DEPTH)? as u16,
            flags: get(FLAGS)? as u8,
            function: get(FUNCTION)? as u32,
            start: 0,
            duration: get(DURATION)?,
            count: get(COUNT)?,
            busy: get(BUSY)?,
        };
        groups.add(&block, get(START)?);
    }
    groups.finish()
}

/// Blocks that are packed as they come, so that they are never all there.
///
/// What comes out is first the number of groups, then row, depth and number of blocks of each
/// group, as little-endian `u32`, by row and depth. Then columns of numbers in seven bits a
/// byte: the time from the end of the block before in the group (the first: from 0), duration,
/// function, number of calls, the part of the duration that is in no call, and flags.
#[derive(Debug, Default)]
pub struct Groups {
    groups: BTreeMap<(u32, u16), Group>,
    is_overlapping: bool,
}

/// The blocks of a row and a depth.
#[derive(Debug, Default)]
struct Group {
    blocks: u32,
    /// Where the last block ends.
    end: u64,
    columns: [Vec<u8>; COLUMNS],
}

impl Groups {
    /// Adds a block that starts at a time. Those of a row and a depth come in the order of time.
    pub fn add(&mut self, block: &Block, start: u64) {
        let group = self.groups.entry((block.row, block.depth)).or_default();
        let gap = start.checked_sub(group.end);
        let (Some(gap), Some(end)) = (gap, start.checked_add(block.duration)) else {
            self.is_overlapping = true;
            return;
        };
        group.end = end;
        group.blocks += 1;
        let function = u64::from(block.function);
        let count = block.count.min(u64::from(u32::MAX));
        let idle = block.duration.saturating_sub(block.busy);
        let numbers = [gap, block.duration, function, count, idle, u64::from(block.flags)];
        for (column, number) in group.columns.iter_mut().zip(numbers) {
            put(column, number);
        }
    }

    /// All of them; `None` if two blocks of a group overlap.
    #[must_use]
    pub fn finish(self) -> Option<Vec<u8>> {
        if self.is_overlapping {
            return None;
        }
        let columns = self.groups.values().flat_map(|group| &group.columns);
        let size: usize = columns.map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(size + 4 + 12 * self.groups.len());
        bytes.extend_from_slice(&u32::try_from(self.groups.len()).ok()?.to_le_bytes());
        for (&(row, depth), group) in &self.groups {
            for number in [row, u32::from(depth), group.blocks] {
                bytes.extend_from_slice(&number.to_le_bytes());
            }
        }
        for column in 0..COLUMNS {
            let columns = self.groups.values().filter_map(|group| group.columns.get(column));
            columns.for_each(|column| bytes.extend_from_slice(column));
        }
        Some(bytes)
    }
}

/// Columns one after the other, without padding.
struct Table<'a> {
    columns: &'a [u8],
    blocks: usize,
}

impl Table<'_> {
    /// A number of a block.
    fn get(&self, column: usize, at: usize) -> Option<u64> {
        let width = *WIDTHS.get(column)?;
        let before: usize = WIDTHS.get(..column)?.iter().sum();
        let from = before * self.blocks + at * width;
        let mut bytes = [0; 8];
        bytes.get_mut(..width)?.copy_from_slice(self.columns.get(from..from + width)?);
        Some(u64::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::packing::Unpacker;
    use super::*;

    /// Row, depth, flags, function, start, duration, number, busy time.
    type Numbers = [u64; 8];

    fn columns(blocks: &[Numbers]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (column, width) in WIDTHS.iter().enumerate() {
            for block in blocks {
                bytes.extend_from_slice(&block[column].to_le_bytes()[..*width]);
            }
        }
        bytes
    }

    #[test]
    fn groups_come_first_and_columns_behind_them() {
        let blocks = [
            [0, 0, 0, 7, 100, 50, 1, 50],
            [0, 0, 4, 8, 170, 30, 3, 20],
            [0, 1, 2, 300, 110, 5, 1, 5],
            [2, 0, 0, 7, 1 << 40, 1 << 33, 1, 1 << 33],
        ];
        let bytes = grouped(&columns(&blocks)).unwrap();
        let words: Vec<u32> = bytes[..40]
            .chunks(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, [3, 0, 0, 2, 0, 1, 1, 2, 0, 1]);
        let mut rest = Unpacker::new(&bytes[40..]);
        let mut column = || -> Vec<u64> { (0..4).map(|_| rest.take().unwrap()).collect() };
        assert_eq!(column(), [100, 20, 110, 1 << 40]);
        assert_eq!(column(), [50, 30, 5, 1 << 33]);
        assert_eq!(column(), [7, 8, 300, 7]);
        assert_eq!(column(), [1, 3, 1, 1]);
        assert_eq!(column(), [0, 10, 0, 0]);
        assert_eq!(column(), [0, 4, 2, 0]);
        assert!(rest.is_empty());
    }

    #[test]
    fn what_are_no_columns_is_none() {
        assert_eq!(grouped(&[]), Some(vec![0; 4]));
        assert_eq!(grouped(&[0; 38]), None);
        let overlapping = [[0, 0, 0, 0, 100, 50, 1, 50], [0, 0, 0, 0, 149, 1, 1, 1]];
        assert_eq!(grouped(&columns(&overlapping)), None);
        let endless = [[0, 0, 0, 0, u64::MAX, 1, 1, 1]];
        assert_eq!(grouped(&columns(&endless)), None);
    }
}
