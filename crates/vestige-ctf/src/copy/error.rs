//! Why something cannot be copied.

use std::io;

use crate::record::DecodeError;

/// Why something cannot be copied.
#[derive(Debug)]
pub enum CopyError {
    /// The other version of the format cannot have a field class.
    Metadata {
        /// Names of members that lead to the field, innermost first.
        path: Vec<String>,
        /// What is wrong.
        message: String,
    },
    /// A field of a record cannot be decoded, or has a value that the copy cannot have.
    Field(String),
    /// The file cannot be written.
    Io(io::Error),
}

impl CopyError {
    pub(super) fn metadata(message: impl Into<String>) -> Self {
        Self::Metadata { path: Vec::new(), message: message.into() }
    }

    /// The same error in a member of a structure, or in an event record class.
    pub(super) fn within(mut self, name: &str) -> Self {
        if let Self::Metadata { path, .. } = &mut self {
            path.push(name.to_owned());
        }
        self
    }
}

impl From<DecodeError> for CopyError {
    fn from(error: DecodeError) -> Self {
        Self::Field(error.to_string())
    }
}

impl From<crate::bits::OutOfData> for CopyError {
    fn from(error: crate::bits::OutOfData) -> Self {
        DecodeError::from(error).into()
    }
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for CopyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Metadata { path, message } if path.is_empty() => f.write_str(message),
            Self::Metadata { path, message } => {
                let names: Vec<&str> = path.iter().rev().map(String::as_str).collect();
                write!(f, "{}: {message}", names.join("."))
            }
            Self::Field(message) => f.write_str(message),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}
