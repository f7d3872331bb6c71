//! tracefs without a place, a program for the kernel, and a process without rights.

use std::io;
use std::os::fd::{IntoRawFd, RawFd};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use vestige_kernel::{programs, rights as inner};

#[doc = core_doc!(open_tracefs)]
#[pyfunction]
pub fn open_tracefs() -> PyResult<RawFd> {
    Ok(inner::open_tracefs().map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(drop_rights)]
#[pyfunction]
pub fn drop_rights(user: u32, group: u32) -> PyResult<()> {
    inner::drop_rights(user, group).map_err(with_number)
}

#[doc = core_doc!(attach_to_system_calls)]
#[pyfunction]
pub fn attach_to_system_calls(code: &[u8]) -> PyResult<RawFd> {
    Ok(programs::attach_to_system_calls(code).map_err(with_number)?.into_raw_fd())
}

/// An error of the system as an `OSError` with its number, by which Python says why.
fn with_number(error: io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let text = error.to_string();
    let plain = text.rsplit_once(" (os error").map_or(text.as_str(), |(plain, _)| plain);
    PyOSError::new_err((number, plain.to_owned()))
}
