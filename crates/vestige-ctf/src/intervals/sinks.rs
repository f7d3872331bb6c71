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
    pub calls: Option<Vec<Call>>,
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
