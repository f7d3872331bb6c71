//! Blocks of a timeline as a page holds them: by rows and depths, in few bytes.

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

/// Packs blocks that come as columns (see [`super::columns`]), in order of row, depth and
/// start.
///
/// First the number of groups, then row, depth and number of blocks of each group, as
/// little-endian `u32`. Then columns of numbers in seven bits a byte: the time from the end of
/// the block before in the group (the first: from 0), duration, function, number of calls, the
/// part of the duration that is in no call, and flags. `None` if the bytes are no columns, or
/// two blocks of a group overlap.
#[must_use]
pub fn grouped(columns: &[u8]) -> Option<Vec<u8>> {
    if columns.len() % BLOCK != 0 {
        return None;
    }
    let table = Table { columns, blocks: columns.len() / BLOCK };
    let mut groups: Vec<(u64, u64, u32)> = Vec::new();
    for at in 0..table.blocks {
        let (row, depth) = (table.get(ROW, at)?, table.get(DEPTH, at)?);
        match groups.last_mut() {
            Some(group) if (group.0, group.1) == (row, depth) => group.2 += 1,
            _ => groups.push((row, depth, 1)),
        }
    }
    let mut bytes = Vec::with_capacity(columns.len() / 3);
    bytes.extend_from_slice(&u32::try_from(groups.len()).ok()?.to_le_bytes());
    for &(row, depth, blocks) in &groups {
        for number in [row as u32, depth as u32, blocks] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }
    put_gaps(&mut bytes, &table, &groups)?;
    for column in [DURATION, FUNCTION, COUNT] {
        for at in 0..table.blocks {
            put(&mut bytes, table.get(column, at)?);
        }
    }
    for at in 0..table.blocks {
        put(&mut bytes, table.get(DURATION, at)?.saturating_sub(table.get(BUSY, at)?));
    }
    for at in 0..table.blocks {
        put(&mut bytes, table.get(FLAGS, at)?);
    }
    Some(bytes)
}

/// Adds the time before each block.
fn put_gaps(bytes: &mut Vec<u8>, table: &Table<'_>, groups: &[(u64, u64, u32)]) -> Option<()> {
    let mut at = 0;
    for &(_, _, blocks) in groups {
        let mut end = 0u64;
        for _ in 0..blocks {
            let start = table.get(START, at)?;
            put(bytes, start.checked_sub(end)?);
            end = start.checked_add(table.get(DURATION, at)?)?;
            at += 1;
        }
    }
    Some(())
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
        assert!(rest.is_at_end());
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
