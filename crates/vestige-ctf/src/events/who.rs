//! Who made an event record.

/// The thread of an event record; where that is not known its CPU, else its data stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Who {
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// Process ID.
    pub process: Option<i64>,
    /// Thread ID.
    pub thread: Option<i64>,
    /// Number of the CPU, where the thread is not known.
    pub cpu: Option<i64>,
    /// The data stream (`DataStream::origin`), where neither is known.
    pub stream: Option<u64>,
}
