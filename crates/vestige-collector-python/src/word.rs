//! A word of shared memory.

use pyo3::prelude::*;
use vestige_collector::word;

use crate::errors::exception;

#[doc = core_doc!(exchange)]
#[pyfunction]
pub fn exchange(py: Python<'_>, file: i32, at: u64, expected: u64, new: u64) -> PyResult<u64> {
    py.detach(|| word::exchange(file, at, expected, new)).map_err(|error| exception(&error))
}
