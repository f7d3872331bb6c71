//! tracefs without a place, and a process without rights.

use std::os::fd::{IntoRawFd, RawFd};

use pyo3::prelude::*;
use vestige_kernel::rights as inner;

#[doc = core_doc!(open_tracefs)]
#[pyfunction]
pub fn open_tracefs() -> PyResult<RawFd> {
    Ok(inner::open_tracefs()?.into_raw_fd())
}

#[doc = core_doc!(drop_rights)]
#[pyfunction]
pub fn drop_rights(user: u32, group: u32) -> PyResult<()> {
    Ok(inner::drop_rights(user, group)?)
}
