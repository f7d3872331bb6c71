//! What signals do to this process.

use pyo3::prelude::*;
use vestige_collector::sys;

#[doc = core_doc!(act_by_default)]
#[pyfunction]
pub fn act_by_default(number: i32) {
    sys::act_by_default(number);
}
