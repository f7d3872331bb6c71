//! A path of a source file, in one piece and in two.

use std::sync::Arc;

/// A full path, and its parts, shared by all answers that have it.
#[derive(Debug)]
pub(crate) struct SourcePath {
    pub(crate) whole: Arc<str>,
    pub(crate) directory: Arc<str>,
    pub(crate) file: Arc<str>,
}

impl SourcePath {
    /// Splits a full path at its last separator.
    pub(crate) fn new(path: &str) -> Self {
        let (directory, file) = match path.rsplit_once('/') {
            Some(("", file)) => ("/", file),
            Some(parts) => parts,
            None => ("", path),
        };
        Self { whole: Arc::from(path), directory: Arc::from(directory), file: Arc::from(file) }
    }
}
