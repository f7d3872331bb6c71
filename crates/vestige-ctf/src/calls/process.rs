//! What tells processes apart.

/// A process: its process space and its ID.
pub type Process = (u32, i32);
