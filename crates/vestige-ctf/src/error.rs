//! The one error type of the crate: what is wrong, where, and what was expected.

use std::fmt;

/// Which part of a trace an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The metadata stream: its packets or its TSDL text.
    Metadata,
    /// The header or the context of a packet, or the sizes they give.
    Packet,
    /// An event record.
    Record,
    /// An operating system error while reading.
    Io,
}

/// An error with its place. The crate knows no paths: who opened the file adds its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CtfError {
    /// The part of the trace.
    pub kind: ErrorKind,
    /// What is wrong and what was expected.
    pub message: String,
    /// Byte offset in the file, when known.
    pub offset: Option<u64>,
    /// Line number from 1 in the metadata text, when that is what is wrong.
    pub line: Option<u32>,
}

/// The crate's result.
pub type Result<T> = std::result::Result<T, CtfError>;

impl CtfError {
    /// An error without a place yet.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), offset: None, line: None }
    }

    /// A metadata error at a line of the text.
    pub fn metadata(line: u32, message: impl Into<String>) -> Self {
        Self { line: Some(line), ..Self::new(ErrorKind::Metadata, message) }
    }

    /// An error in a packet that starts at, or lies at, a byte offset of its file.
    pub fn packet(offset: u64, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::new(ErrorKind::Packet, message) }
    }

    /// An error in an event record at a byte offset of its file.
    pub fn record(offset: u64, message: impl Into<String>) -> Self {
        Self { offset: Some(offset), ..Self::new(ErrorKind::Record, message) }
    }

    /// A failed read at a byte offset.
    pub fn io(offset: u64, error: &std::io::Error) -> Self {
        Self { offset: Some(offset), ..Self::new(ErrorKind::Io, format!("cannot read: {error}")) }
    }
}

impl fmt::Display for CtfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for CtfError {}
