//! `Trimmer`: a range of time of merges that are there already.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::{muxer, trimmer};

#[doc = core_doc!(Trimmer)]
#[pyclass(frozen, module = "vestige._core")]
pub struct Trimmer {
    inner: Mutex<trimmer::Trimmer>,
}

impl Trimmer {
    fn lock(&self) -> MutexGuard<'_, trimmer::Trimmer> {
        // A panic cannot leave it half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What of a merge is in the range, and for each of its records the index before.
    pub fn trim(&self, merge: &muxer::Merge) -> (muxer::Merge, Vec<usize>) {
        self.lock().trim(merge)
    }
}

#[pymethods]
impl Trimmer {
    #[new]
    fn new(begin: Option<i64>, end: Option<i64>) -> Self {
        Self { inner: Mutex::new(trimmer::Trimmer::new(begin, end)) }
    }

    #[doc = core_doc!(Trimmer.has_ended)]
    #[getter]
    fn has_ended(&self) -> bool {
        self.lock().has_ended()
    }
}
