//! `Verifier`: decoding all of some data streams, in any order.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::stream;

use crate::stream::DataStream;

/// Bytes that are decoded before the interpreter may look at its signals.
const STEP: u64 = 256 * 1024 * 1024;

#[doc = core_doc!(Verifier)]
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

    #[doc = core_doc!(Verifier.step)]
    fn step(&self, py: Python<'_>) -> bool {
        py.detach(|| self.inner.lock().unwrap_or_else(PoisonError::into_inner).step(STEP))
    }

    #[doc = core_doc!(Verifier.records)]
    #[getter]
    fn records(&self) -> Option<u64> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).records()
    }
}
