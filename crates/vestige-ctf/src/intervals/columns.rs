//! Blocks and calls as columns of little-endian numbers, one after the other.

use super::blocks::{Block, EVENTS};
use super::index_file::IntervalIndex;
use super::sinks::Call;

/// Set in the flags of blocks of records that are no calls.
pub const IS_EVENTS: u8 = 16;

/// The columns of blocks: row `u32`, depth `u16`, flags `u8`, function `u32`, start `u64`
/// (from `origin` on), duration `u64`, count `u32` and busy `u64`.
#[must_use]
pub fn of_blocks(blocks: &[Block], origin: i64) -> Vec<u8> {
    let start = |one: &Block| u64::try_from(one.start.saturating_sub(origin)).unwrap_or(0);
    let count = |one: &Block| u32::try_from(one.count).unwrap_or(u32::MAX);
    let mut into = Vec::with_capacity(blocks.len() * 39);
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

/// Blocks by row, depth and start; those of a row and a depth are in order already.
#[must_use]
pub fn sorted(blocks: impl Iterator<Item = Block>) -> Vec<Block> {
    let mut rows: Vec<Vec<Vec<Block>>> = Vec::new();
    for block in blocks {
        let (row, depth) = (block.row as usize, usize::from(block.depth));
        if row >= rows.len() {
            rows.resize_with(row + 1, Vec::new);
        }
        let Some(row) = rows.get_mut(row) else { continue };
        if depth >= row.len() {
            row.resize_with(depth + 1, Vec::new);
        }
        if let Some(lane) = row.get_mut(depth) {
            lane.push(block);
        }
    }
    rows.into_iter().flatten().flatten().collect()
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
