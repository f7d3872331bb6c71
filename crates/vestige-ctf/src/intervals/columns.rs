//! Blocks and calls as columns of little-endian numbers, one after the other.

use super::blocks::{Block, EVENTS};
use super::grouped::Groups;
use super::index_file::IntervalIndex;
use super::pyramid::MOST_LANES;
use super::sinks::Call;

/// Set in the flags of blocks of records that are no calls.
pub const IS_EVENTS: u8 = 16;

/// The columns of blocks: row `u32`, depth `u16`, flags `u8`, function `u32`, start `u64`
/// (from `origin` on), duration `u64`, count `u32` and busy `u64`.
#[must_use]
pub fn of_blocks(blocks: &[Block], origin: i64) -> Vec<u8> {
    let start = |one: &Block| u64::try_from(one.start.saturating_sub(origin)).unwrap_or(0);
    let count = |one: &Block| u32::try_from(one.count).unwrap_or(u32::MAX);
    let mut into = Vec::with_capacity(blocks.len() * BLOCK_BYTES);
    column(&mut into, blocks, |one| one.row.to_le_bytes());
    column(&mut into, blocks, |one| one.depth.to_le_bytes());
    column(&mut into, blocks, |one| [one.flags]);
    column(&mut into, blocks, |one| one.function.to_le_bytes());
    column(&mut into, blocks, |one| start(one).to_le_bytes());
    column(&mut into, blocks, |one| one.duration.to_le_bytes());
    column(&mut into, blocks, |one| count(one).to_le_bytes());
    column(&mut into, blocks, |one| one.busy.to_le_bytes());
    into
}

fn column<T, const N: usize>(into: &mut Vec<u8>, rows: &[T], of: impl Fn(&T) -> [u8; N]) {
    for row in rows {
        into.extend_from_slice(&of(row));
    }
}

/// How many bytes a block takes in all columns.
pub const BLOCK_BYTES: usize = 39;

/// Writes calls as the columns of blocks that [`of_blocks`] makes, by row, depth and start; those of
/// a row and a depth are in order already. `into` has [`BLOCK_BYTES`] for each call.
pub fn write_sorted(calls: &[Call], origin: i64, into: &mut [u8]) {
    let mut places = Places::of(calls);
    let mut rest = into;
    let mut column = |width: usize| {
        let (column, behind) = std::mem::take(&mut rest).split_at_mut(width * calls.len());
        rest = behind;
        column
    };
    let [rows, depths] = [4, 2].map(&mut column);
    let [flags, functions] = [1, 4].map(&mut column);
    let [starts, durations] = [8, 8].map(&mut column);
    let [counts, busy] = [4, 8].map(&mut column);
    for Call { block, .. } in calls {
        let at = places.take(block);
        let start = u64::try_from(block.start.saturating_sub(origin)).unwrap_or(0);
        put_at(rows, at, block.row.to_le_bytes());
        put_at(depths, at, block.depth.to_le_bytes());
        put_at(flags, at, [block.flags]);
        put_at(functions, at, block.function.to_le_bytes());
        put_at(starts, at, start.to_le_bytes());
        put_at(durations, at, block.duration.to_le_bytes());
        put_at(counts, at, u32::try_from(block.count).unwrap_or(u32::MAX).to_le_bytes());
        put_at(busy, at, block.busy.to_le_bytes());
    }
}

#[inline(always)]
fn put_at<const N: usize>(column: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = column.get_mut(at * N..at * N + N) {
        place.copy_from_slice(&bytes);
    }
}

/// The place of the next call of each row and depth.
struct Places(Vec<Vec<usize>>);

impl Places {
    fn of(calls: &[Call]) -> Self {
        let mut places: Vec<Vec<usize>> = Vec::new();
        for Call { block, .. } in calls {
            let (row, depth) = (block.row as usize, usize::from(block.depth));
            if row >= places.len() {
                places.resize_with(row + 1, Vec::new);
            }
            let Some(row) = places.get_mut(row) else { continue };
            if depth >= row.len() {
                row.resize(depth + 1, 0);
            }
            if let Some(count) = row.get_mut(depth) {
                *count += 1;
            }
        }
        let mut next = 0;
        for count in places.iter_mut().flatten() {
            next += std::mem::replace(count, next);
        }
        Self(places)
    }

    #[inline]
    fn take(&mut self, block: &Block) -> usize {
        let row = self.0.get_mut(block.row as usize);
        let place = row.and_then(|row| row.get_mut(usize::from(block.depth)));
        place.map_or(0, |place| {
            *place += 1;
            *place - 1
        })
    }
}

/// The columns of calls: row `u32`, depth `u16`, flags `u8`, function `u32`, start `i64`,
/// duration `u64`, own time `u64`, caller `u32` and state `u8`.
#[must_use]
pub fn of_calls(calls: &[Call]) -> Vec<u8> {
    let mut into = Vec::with_capacity(calls.len() * 40);
    column(&mut into, calls, |one| one.block.row.to_le_bytes());
    column(&mut into, calls, |one| one.block.depth.to_le_bytes());
    column(&mut into, calls, |one| [one.block.flags]);
    column(&mut into, calls, |one| one.block.function.to_le_bytes());
    column(&mut into, calls, |one| one.block.start.to_le_bytes());
    column(&mut into, calls, |one| one.block.duration.to_le_bytes());
    column(&mut into, calls, |one| one.own.to_le_bytes());
    column(&mut into, calls, |one| one.caller.to_le_bytes());
    column(&mut into, calls, |one| [one.state]);
    into
}

impl IntervalIndex {
    /// The blocks of a level as a page takes them: see [`super::grouped`]. `None` if blocks of a
    /// row and a depth overlap.
    #[must_use]
    pub fn grouped(&self, level: usize, origin: i64) -> Option<Vec<u8>> {
        let mut groups = Groups::default();
        let start = |one: &Block| u64::try_from(one.start.saturating_sub(origin)).unwrap_or(0);
        self.calls.visit(level, |one| {
            let function = self.ids.of(one.function);
            groups.add(&Block { function, ..one }, start(&one));
        });
        let first = self.threads.len() as u32;
        self.events.visit(level, |one| {
            if one.function == EVENTS {
                let (row, flags) = (one.row.saturating_add(first), one.flags | IS_EVENTS);
                groups.add(&Block { row, flags, ..one }, start(&one));
            }
        });
        groups.finish()
    }

    /// The parts of a range of time in which there are records that are no calls: begin and end
    /// of each, both included, in order.
    #[must_use]
    pub fn other_spans(&self, begin: i64, end: i64) -> Vec<(i64, i64)> {
        if self.others.len() > MOST_LANES {
            // Not all of them have blocks.
            return vec![(begin, end)];
        }
        self.events.spans(begin, end)
    }

    /// The blocks of a level in a range of time, calls first. The rows of other records are
    /// behind those of calls, in their own order.
    #[must_use]
    pub fn blocks(&self, level: usize, begin: i64, end: i64) -> Vec<Block> {
        let mut found = self.calls.within(level, begin, end);
        for block in &mut found {
            block.function = self.ids.of(block.function);
        }
        let first = self.threads.len() as u32;
        let events = self.events.within(level, begin, end).into_iter();
        found.extend(events.filter(|one| one.function == EVENTS).map(|one| Block {
            row: one.row.saturating_add(first),
            flags: one.flags | IS_EVENTS,
            ..one
        }));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_sorted_by_row_and_depth_and_stay_in_order() {
        let call = |row, depth, start| {
            let (flags, function, duration, count) = ((row + 1) as u8, row + 7, 3, 1);
            let block =
                Block { row, depth, flags, function, start, duration, count, busy: duration };
            Call { block, own: 0, caller: 0, state: 0 }
        };
        let calls = [call(1, 0, 5), call(0, 1, 2), call(1, 1, 1), call(0, 0, 1), call(1, 0, 9)];
        let mut blocks: Vec<Block> = calls.iter().map(|one| one.block).collect();
        blocks.sort_by_key(|one| (one.row, one.depth));
        let mut columns = vec![0; calls.len() * BLOCK_BYTES];
        write_sorted(&calls, 1, &mut columns);
        assert_eq!(columns, of_blocks(&blocks, 1));
        write_sorted(&[], 1, &mut []);
    }
}
