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
    let mut into = Vec::with_capacity(blocks.len() * 39);
    into.extend(blocks.iter().flat_map(|one| one.row.to_le_bytes()));
    into.extend(blocks.iter().flat_map(|one| one.depth.to_le_bytes()));
    into.extend(blocks.iter().map(|one| one.flags));
    into.extend(blocks.iter().flat_map(|one| one.function.to_le_bytes()));
    let start = |one: &Block| u64::try_from(one.start.saturating_sub(origin)).unwrap_or(0);
    into.extend(blocks.iter().flat_map(|one| start(one).to_le_bytes()));
    into.extend(blocks.iter().flat_map(|one| one.duration.to_le_bytes()));
    let count = |one: &Block| u32::try_from(one.count).unwrap_or(u32::MAX);
    into.extend(blocks.iter().flat_map(|one| count(one).to_le_bytes()));
    into.extend(blocks.iter().flat_map(|one| one.busy.to_le_bytes()));
    into
}

/// The columns of calls: row `u32`, depth `u16`, flags `u8`, function `u32`, start `i64`,
/// duration `u64`, own time `u64` and caller `u32`.
#[must_use]
pub fn of_calls(calls: &[Call]) -> Vec<u8> {
    let mut into = Vec::with_capacity(calls.len() * 39);
    into.extend(calls.iter().flat_map(|one| one.block.row.to_le_bytes()));
    into.extend(calls.iter().flat_map(|one| one.block.depth.to_le_bytes()));
    into.extend(calls.iter().map(|one| one.block.flags));
    into.extend(calls.iter().flat_map(|one| one.block.function.to_le_bytes()));
    into.extend(calls.iter().flat_map(|one| one.block.start.to_le_bytes()));
    into.extend(calls.iter().flat_map(|one| one.block.duration.to_le_bytes()));
    into.extend(calls.iter().flat_map(|one| one.own.to_le_bytes()));
    into.extend(calls.iter().flat_map(|one| one.caller.to_le_bytes()));
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
