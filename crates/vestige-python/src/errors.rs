//! The one place where errors of the Rust crates become exceptions of `vestige.errors`.

use std::io;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use vestige_ctf::stream::Damage;
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

/// The exception for a field that an event does not have; `known` are those that it has.
pub fn no_such_field(
    py: Python<'_>,
    name: &str,
    known: Vec<String>,
    event: Option<Bound<'_, PyAny>>,
) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let class = py.import("vestige.errors")?.getattr("NoSuchFieldError")?;
        Ok(PyErr::from_value(class.call1((name, known, event))?))
    };
    build().unwrap_or_else(|error| error)
}

/// What `vestige.graph` makes a `Damage` of: path, first byte, byte behind the last, kind,
/// message, records lost, and the times (cycles) between which they were lost.
pub type DamageTuple =
    (Option<String>, u64, u64, &'static str, String, Option<u64>, Option<u64>, Option<u64>);

/// The facts of damage in a file.
pub fn damage_tuple(path: Option<&str>, damage: &Damage) -> DamageTuple {
    let path = path.map(str::to_owned);
    let Damage { start, end, records, after, before, .. } = *damage;
    (path, start, end, damage.kind.name(), damage.message.clone(), records, after, before)
}

/// What the operating system says of an error, without its number.
pub fn os_text(error: &io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|code| format!(" (os error {code})"));
    match number.and_then(|number| text.strip_suffix(&number)) {
        Some(plain) => plain.to_owned(),
        None => text,
    }
}

/// An `OSError` that knows its number, as those of Python do.
pub fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, os_text(error))),
        None => PyOSError::new_err(error.to_string()),
    }
}
