//! What tells processes and threads apart.

/// A process: its process space and its ID.
pub type Process = (u32, i32);

/// What tells threads apart: data stream, process space, process ID and thread ID.
pub type ThreadKey = (u32, u32, i32, i32);

/// In place of a function that is at an address: the process executes another program.
pub const END_OF_PROCESS: u32 = u32::MAX;
