//! Errors of the system as exceptions that know their number and their file.

use std::io;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use vestige_collector::file_error::FileError;

/// What the operating system says of an error, without its number.
pub fn os_text(text: &str, code: i32) -> String {
    text.strip_suffix(&format!(" (os error {code})")).unwrap_or(text).to_owned()
}

/// The exception for an error of the collector.
pub fn exception(error: &io::Error) -> PyErr {
    let file = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
    let code = file.map_or_else(|| error.raw_os_error(), |file| file.errno);
    match (code, file) {
        (Some(code), Some(file)) => {
            let path = file.path.clone().into_os_string();
            PyOSError::new_err((code, os_text(&file.text, code), path))
        }
        (Some(code), None) => PyOSError::new_err((code, os_text(&error.to_string(), code))),
        _ if error.kind() == io::ErrorKind::InvalidInput => {
            PyValueError::new_err(error.to_string())
        }
        _ => PyOSError::new_err(error.to_string()),
    }
}
