//! The counter of recordings.

use pyo3::prelude::*;
use vestige_collector::sys;

#[doc = core_doc!(counter)]
#[pyfunction]
pub fn counter() -> u64 {
    sys::counter()
}
