//! The one place where errors of the Rust crates become exceptions of `vestige.errors`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vestige_ctf::CtfError;

/// An exception class of `vestige.errors` with a message and its place.
pub fn exception(
    py: Python<'_>,
    class: &str,
    message: &str,
    path: Option<&str>,
    offset: Option<u64>,
) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        keywords.set_item("path", path)?;
        keywords.set_item("offset", offset)?;
        let class = py.import("vestige.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    build().unwrap_or_else(|error| error)
}

/// The exception for damage in a trace file.
pub fn trace_format_error(py: Python<'_>, error: &CtfError, path: Option<&str>) -> PyErr {
    exception(py, "TraceFormatError", &error.to_string(), path, error.offset)
}
