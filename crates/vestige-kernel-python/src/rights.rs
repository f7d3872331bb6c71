//! tracefs without a place, a program for the kernel, and a process without rights.

use std::os::fd::{IntoRawFd, RawFd};

use pyo3::prelude::*;
use vestige_kernel::{programs, rights as inner};

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

#[doc = core_doc!(attach_to_system_calls)]
#[pyfunction]
pub fn attach_to_system_calls(code: &[u8]) -> PyResult<RawFd> {
    Ok(programs::attach_to_system_calls(code)?.into_raw_fd())
}
