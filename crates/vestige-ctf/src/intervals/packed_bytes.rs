//! Bytes of packed blocks: in memory, or where a file has them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::packing::Unpacker;
use crate::source::ReadAt;

/// A file from which an index is read, which nobody else writes to.
#[derive(Clone)]
pub struct Stored {
    /// The file.
    pub source: Arc<dyn ReadAt>,
    /// Where the bytes of the index end in it.
    pub end: u64,
}

/// The bytes.
#[derive(Clone)]
pub enum PackedBytes {
    /// They are here.
    Own(Vec<u8>),
    /// They are in a file: from where on, and how many.
    Stored(Arc<dyn ReadAt>, u64, usize),
}

impl Default for PackedBytes {
    fn default() -> Self {
        Self::Own(Vec::new())
    }
}

impl fmt::Debug for PackedBytes {
    fn fmt(&self, into: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(into, "PackedBytes({})", self.size())
    }
}

impl Stored {
    /// So many bytes that were taken last, of an index of which the rest is left.
    #[must_use]
    pub fn before(&self, length: usize, left: &Unpacker<'_>) -> PackedBytes {
        let at = self.end.saturating_sub((left.len() + length) as u64);
        PackedBytes::Stored(Arc::clone(&self.source), at, length)
    }
}

impl PackedBytes {
    /// How many there are.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len(),
            Self::Stored(_, _, length) => *length,
        }
    }

    /// A part of them; nothing where there is none, or where it cannot be read any more. What is
    /// in a file is read into `room`.
    #[must_use]
    pub fn part<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<u8>) -> &'a [u8] {
        match self {
            Self::Own(bytes) => bytes.get(range).unwrap_or_default(),
            Self::Stored(source, at, length) => {
                if range.start > range.end || range.end > *length {
                    return &[];
                }
                room.resize(range.len(), 0);
                match source.fill_at(at.saturating_add(range.start as u64), room) {
                    Ok(()) => room,
                    Err(_) => &[],
                }
            }
        }
    }

    /// Adds all of them to others; zeros for what cannot be read any more.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Self::Own(bytes) => into.extend_from_slice(bytes),
            Self::Stored(source, at, length) => {
                let start = into.len();
                into.resize(start + length, 0);
                let _ = source.fill_at(*at, into.get_mut(start..).unwrap_or_default());
            }
        }
    }
}
