//! What calls do, one by one, for whoever needs each of them.

use super::tree::End;

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It begins.
    Begin,
    /// The innermost open call of its thread ends.
    End(End),
    /// It ends, and was not seen to begin.
    Unseen,
}

/// A step of a thread. All steps of a thread stand in their order, and each call ends
/// after those that it made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallStep {
    /// Nanoseconds from the origin. The end of a call without exit is that of the least time
    /// that it took.
    pub time: i64,
    /// Index of the thread.
    pub thread: u32,
    /// Index of the function, or what is in its place.
    pub function: u32,
    /// What happens.
    pub step: Step,
}
