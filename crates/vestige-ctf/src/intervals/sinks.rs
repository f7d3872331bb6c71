//! What is kept of calls besides the call tree.

use super::blocks::{Block, OPEN_AT_BEGIN};
use super::durations::Durations;
use super::pyramid::Pyramid;

/// In place of what ended a call: it was not seen to begin.
pub const NO_ENTRY: u8 = 3;
/// In place of a caller: nobody is known.
const NO_CALLER: u32 = u32::MAX;

/// What is kept of calls besides the call tree, each if it is wanted.
#[derive(Debug, Clone, Default)]
pub struct Sinks {
    /// How long the complete calls of each function took.
    pub durations: Option<Durations>,
    /// Blocks of a timeline.
    pub pyramid: Option<Pyramid>,
    /// The calls themselves, until somebody takes them.
    pub calls: Option<Calls>,
}

/// The calls that are wanted themselves.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// Those that have ended.
    pub ended: Vec<Call>,
    /// Which functions are wanted, by their numbers; all without a list.
    pub functions: Option<Vec<bool>>,
    /// Which threads are wanted, by their rows; all without a list.
    pub rows: Option<Vec<bool>>,
    /// How long a call takes at least, nanoseconds.
    pub least: u64,
    /// Whether also calls are wanted that were not seen to begin, and those of which the
    /// function is not known.
    pub is_everything: bool,
}

impl Calls {
    /// Whether a call is wanted.
    #[inline]
    #[must_use]
    pub fn takes(&self, block: &Block) -> bool {
        let has = |list: &Option<Vec<bool>>, index: u32| {
            list.as_ref().is_none_or(|list| list.get(index as usize).copied().unwrap_or(false))
        };
        block.duration >= self.least
            && has(&self.functions, block.function)
            && has(&self.rows, block.row)
    }

    /// Adds a call that was not seen to begin, if such are wanted.
    pub fn add_unseen(&mut self, row: u32, function: u32, time: i64) {
        if !self.is_everything {
            return;
        }
        let (depth, flags, start, duration) = (0, OPEN_AT_BEGIN, time, 0);
        let block = Block { row, depth, flags, function, start, duration, count: 1, busy: 0 };
        self.ended.push(Call { block, own: 0, caller: NO_CALLER, state: NO_ENTRY });
    }
}

/// A call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Where it is on a timeline.
    pub block: Block,
    /// How long it took without the calls that it made, nanoseconds.
    pub own: u64,
    /// The function that called it, or what is in its place.
    pub caller: u32,
    /// What is known of its end: the number of an `End`, or [`NO_ENTRY`].
    pub state: u8,
}
