//! Which process something was made in.

use pyo3::prelude::*;

use crate::errors::exception;

/// The process that a reader was made in.
///
/// A reader has work under way on threads, which fork(2) does not copy: a child that went
/// on with the reader of its parent would wait for them forever.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// The process that runs.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// Refuses to go on in a child. Comes before any lock: another thread of the parent may
    /// have held it while it forked.
    ///
    /// # Errors
    ///
    /// `ForkError` in any other process.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        if *self == Self::this() {
            return Ok(());
        }
        let message = "this iterator was made before fork(), by the parent process: \
                       iterate over the trace anew";
        Err(exception(py, "ForkError", message, None, None))
    }
}
