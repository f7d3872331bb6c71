//! tracefs without a place, a program for the kernel, and a process without rights.

use std::io;
use std::os::fd::{IntoRawFd, RawFd};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use vestige_kernel::{bpf, perf_events, rights as inner, sys};

#[doc = core_doc!(open_tracefs)]
#[pyfunction]
pub fn open_tracefs() -> PyResult<RawFd> {
    Ok(inner::open_tracefs().map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(drop_rights)]
#[pyfunction]
pub fn drop_rights(user: u32, group: u32, more: Vec<u32>) -> PyResult<()> {
    inner::drop_rights(user, group, &more).map_err(with_number)
}

#[doc = core_doc!(shorten_slice)]
#[pyfunction]
pub fn shorten_slice(nanoseconds: u64) -> PyResult<()> {
    sys::shorten_slice(nanoseconds).map_err(with_number)
}

#[doc = core_doc!(attach_program)]
#[pyfunction]
pub fn attach_program(py: Python<'_>, code: &[u8], tracepoint: &str) -> PyResult<RawFd> {
    // The kernel looks at it for milliseconds.
    let attached = py.detach(|| bpf::attach_program(code, tracepoint));
    Ok(attached.map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(open_counter)]
#[pyfunction]
pub fn open_counter(kind: u32, config: u64, cpu: u32) -> PyResult<RawFd> {
    Ok(perf_events::open_counter(kind, config, cpu).map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(open_map_events)]
#[pyfunction]
pub fn open_map_events(cpu: u32, watermark: u32) -> PyResult<RawFd> {
    Ok(perf_events::open_map_events(cpu, watermark).map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(counter_array)]
#[pyfunction]
pub fn counter_array(counters: Vec<Option<RawFd>>) -> PyResult<RawFd> {
    Ok(bpf::counter_array(&counters).map_err(with_number)?.into_raw_fd())
}

#[doc = core_doc!(work_memory)]
#[pyfunction]
pub fn work_memory(size: u32) -> PyResult<RawFd> {
    Ok(bpf::work_memory(size).map_err(with_number)?.into_raw_fd())
}

/// An error of the system as an `OSError` with its number, by which Python says why.
fn with_number(error: io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else { return error.into() };
    let text = error.to_string();
    let plain = text.rsplit_once(" (os error").map_or(text.as_str(), |(plain, _)| plain);
    PyOSError::new_err((number, plain.to_owned()))
}
