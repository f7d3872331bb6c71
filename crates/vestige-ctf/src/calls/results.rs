//! What a fold has found.

use super::fold::CallFold;
use super::thread::Thread;
use super::tree::Node;
use super::turns::Shares;
use crate::intervals::{Durations, FunctionDurations};

/// What is known of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// Process ID, -1 if not told.
    pub vpid: i32,
    /// Thread ID, -1 if not told.
    pub vtid: i32,
    /// Index of the root among the nodes.
    pub root: u32,
    /// Time of its first entry or exit, nanoseconds.
    pub first: i64,
    /// Time of its last entry or exit, nanoseconds.
    pub last: i64,
    /// Exits of which neither function nor entry is known.
    pub unknown_exits: u64,
    /// How many losses fall into its time.
    pub losses: u64,
    /// Whether its exits tell which function is left.
    pub exits_are_named: bool,
}

impl CallFold {
    /// How long the complete calls of each function took, as far as that is kept.
    #[must_use]
    pub fn durations(&self) -> Vec<FunctionDurations> {
        let durations = self.fold.sinks.as_ref().and_then(|sinks| sinks.durations.as_ref());
        durations.map_or_else(Vec::new, Durations::of_functions)
    }

    /// The nodes of the call trees; a caller comes before whom it calls.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.fold.tree.nodes
    }

    /// What the scheduler did during the calls of a node, by its index; `None` where nobody told.
    #[must_use]
    pub fn turns_of(&self, node: usize) -> Option<Shares> {
        self.fold.turns.as_ref().map(|turns| turns.of_node(node))
    }

    /// The number of the function of a node: that of the index, where the fold is of one, which
    /// has one function where a fold has several, such as those of two runs of a program.
    #[inline]
    #[must_use]
    pub fn function_of(&self, node: &Node) -> u32 {
        self.ids.as_ref().map_or(node.function, |ids| ids.of(node.function))
    }

    /// The threads, in the order in which they were seen.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadSummary> {
        let summary = |thread: &Thread| ThreadSummary {
            space: thread.process.0,
            vpid: thread.process.1,
            vtid: thread.vtid,
            root: thread.root,
            first: thread.first.max(self.fold.range.0),
            last: thread.last.max(self.fold.range.0),
            unknown_exits: thread.unknown_exits,
            losses: thread.losses,
            exits_are_named: thread.exits_are_named,
        };
        self.threads.iter().map(summary).collect()
    }

    /// How many entries and exits there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// How many of them are in no tree, since there are too many threads.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// How many calls a filter hides.
    #[must_use]
    pub fn hidden_calls(&self) -> u64 {
        self.threads.iter().map(|thread| thread.hidden_calls).sum()
    }

    /// Whether threads share data streams and nothing tells them apart.
    #[must_use]
    pub fn threads_unknown(&self) -> bool {
        self.threads_unknown
    }

    /// Whether some paths share nodes, since there are too many, or code objects of which
    /// functions are known are.
    #[must_use]
    pub fn is_merged(&self) -> bool {
        !self.fold.tree.has_room() || self.fold.tree.codes.left_out() > 0
    }
}
