//! The one error type of this crate.
//!
//! Every variant says what was being read, at which byte offset, and what was
//! expected there, so that the message alone tells a damaged file from a
//! file of the wrong kind.

use std::fmt;
use std::io;

/// Why an object file or its debug information cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SymbolError {
    /// The byte source failed.
    Io {
        /// What was being read.
        what: &'static str,
        /// Offset in the file.
        offset: u64,
        /// The kind of failure the source gave.
        kind: io::ErrorKind,
        /// The text of the failure the source gave.
        message: String,
    },
    /// The file does not start as an ELF file does.
    NotElf {
        /// The bytes found in the place of the magic number (fewer than four at the end of file).
        found: Vec<u8>,
    },
    /// A structure reaches beyond the end of the file.
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Offset in the file.
        offset: u64,
        /// How many bytes the structure needs.
        expected: u64,
        /// How many bytes the file has there.
        available: u64,
    },
    /// A value is not one the format allows.
    Malformed {
        /// The structure or section that holds the value.
        what: &'static str,
        /// Offset in the file, or in the section when `what` names a section.
        offset: u64,
        /// What the format allows there.
        expected: &'static str,
    },
    /// A compressed section does not decompress to what its header announces.
    Compressed {
        /// Offset of the section in the file.
        offset: u64,
        /// What was expected of the data.
        expected: &'static str,
        /// The size the compression header announces.
        announced: u64,
    },
    /// DWARF data that cannot be decoded.
    Dwarf {
        /// The section that holds the data.
        section: &'static str,
        /// Offset in that section (after decompression).
        offset: u64,
        /// What was being decoded.
        expected: &'static str,
        /// The decoder's reason.
        reason: String,
    },
}

impl SymbolError {
    /// The byte offset the error is about, as far as there is one.
    pub fn offset(&self) -> Option<u64> {
        match self {
            Self::NotElf { .. } => Some(0),
            Self::Io { offset, .. }
            | Self::Truncated { offset, .. }
            | Self::Malformed { offset, .. }
            | Self::Compressed { offset, .. }
            | Self::Dwarf { offset, .. } => Some(*offset),
        }
    }

    pub(crate) fn dwarf(
        section: &'static str,
        offset: u64,
        expected: &'static str,
        reason: gimli::Error,
    ) -> Self {
        Self::Dwarf { section, offset, expected, reason: reason.to_string() }
    }
}

impl fmt::Display for SymbolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, offset, message, .. } => {
                write!(f, "cannot read {what} at offset {offset:#x}: {message}")
            }
            Self::NotElf { found } if found.is_empty() => {
                write!(f, "the file is empty; expected an ELF file")
            }
            Self::NotElf { found } => write!(
                f,
                "expected the ELF magic number 7f 45 4c 46 at offset 0x0, found {found:02x?}"
            ),
            Self::Truncated { what, offset, expected, available } => write!(
                f,
                "expected {expected} bytes of {what} at offset {offset:#x}, \
                 but the file has only {available} there"
            ),
            Self::Malformed { what, offset, expected } => {
                write!(f, "expected {expected} in {what} at offset {offset:#x}")
            }
            Self::Compressed { offset, expected, announced } => write!(
                f,
                "compressed section at offset {offset:#x} announces {announced} bytes: \
                 expected {expected}"
            ),
            Self::Dwarf { section, offset, expected, reason } => {
                write!(f, "expected {expected} in {section} at offset {offset:#x}: {reason}")
            }
        }
    }
}

impl std::error::Error for SymbolError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_names_offset_and_expectation() {
        let what = "a section";
        let expected = "a size";
        let errors = [
            SymbolError::Io {
                what,
                offset: 0x40,
                kind: io::ErrorKind::Other,
                message: "broken".into(),
            },
            SymbolError::Truncated { what, offset: 0x40, expected: 8, available: 3 },
            SymbolError::Malformed { what, offset: 0x40, expected },
            SymbolError::Compressed { offset: 0x40, expected, announced: 9 },
            SymbolError::dwarf(".debug_info", 0x40, expected, gimli::Error::MissingUnitDie),
        ];
        for error in errors {
            assert_eq!(error.offset(), Some(0x40));
            assert!(error.to_string().contains("0x40"), "{error}");
        }
        let error = SymbolError::NotElf { found: b"#!".to_vec() };
        assert_eq!(error.offset(), Some(0));
        assert!(error.to_string().contains("[23, 21]"), "{error}");
    }
}
