//! What is kept of calls besides the call tree.

use super::blocks::Block;
use super::durations::Durations;
use super::pyramid::Pyramid;

/// What is kept of calls besides the call tree, each if it is wanted.
#[derive(Debug, Default)]
pub struct Sinks {
    /// How long the complete calls of each function took.
    pub durations: Option<Durations>,
    /// Blocks of a timeline.
    pub pyramid: Option<Pyramid>,
    /// The calls themselves, until somebody takes them.
    pub calls: Option<Calls>,
}

/// The calls that are wanted themselves.
#[derive(Debug, Default)]
pub struct Calls {
    /// Those that have ended.
    pub ended: Vec<Call>,
    /// Which functions are wanted, by their numbers; all without a list.
    pub functions: Option<Vec<bool>>,
    /// Which threads are wanted, by their rows; all without a list.
    pub rows: Option<Vec<bool>>,
    /// How long a call takes at least, nanoseconds.
    pub least: u64,
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
}
