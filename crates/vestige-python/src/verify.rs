//! `Verifier`: decoding all of some data streams, in any order.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::stream;

use crate::stream::DataStream;

/// Bytes that are decoded before the interpreter may look at its signals.
const STEP: u64 = 256 * 1024 * 1024;

/// Decodes all of some data streams, on all cores, in any order.
#[pyclass(frozen, module = "vestige._core")]
pub struct Verifier {
    inner: Mutex<stream::Verifier>,
}

#[pymethods]
impl Verifier {
    #[new]
    fn new(streams: Vec<Py<DataStream>>) -> Self {
        let streams: Vec<_> = streams.iter().map(|one| Arc::clone(&one.get().inner)).collect();
        Self { inner: Mutex::new(stream::Verifier::new(&streams)) }
    }

    /// Decodes a part; returns whether there is more to do.
    fn step(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).step(STEP))
    }

    /// The number of event records, or `None` when anything is wrong or left to do.
    #[getter]
    fn records(&self) -> Option<u64> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).records()
    }
}
