//! `EventCounter`: how many event records there are, and when.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vestige_ctf::counts::Counts;

use crate::merge::Merge;

#[doc = core_doc!(EventCounter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EventCounter {
    inner: Mutex<Counts>,
}

impl EventCounter {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl EventCounter {
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::new(Counts::default()) }
    }

    #[doc = core_doc!(EventCounter.add)]
    fn add(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().add(&merge.inner));
    }

    #[doc = core_doc!(EventCounter.counts)]
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let result = PyDict::new(py);
        for (name, count) in self.lock().by_name() {
            result.set_item(name, count)?;
        }
        Ok(result)
    }

    #[doc = core_doc!(EventCounter.time_span)]
    #[getter]
    fn time_span(&self) -> Option<(i64, i64)> {
        self.lock().time_span()
    }
}
