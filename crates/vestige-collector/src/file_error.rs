//! Errors of input and output that name the file.

use std::io;
use std::path::{Path, PathBuf};

/// An error that names a file.
pub fn at_path(error: &io::Error, path: &Path) -> io::Error {
    let kind = error.kind();
    let errno = error.raw_os_error();
    io::Error::new(kind, FileError { errno, path: path.into(), text: error.to_string() })
}

/// What went wrong with which file.
#[derive(Debug)]
pub struct FileError {
    /// Of the system, if it said so.
    pub errno: Option<i32>,
    /// The file.
    pub path: PathBuf,
    /// What the system or the collector says of it.
    pub text: String,
}

impl std::fmt::Display for FileError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}: {}", self.path.display(), self.text)
    }
}

impl std::error::Error for FileError {}
