//! The bytes of one section, in memory or read from the file where they are needed.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, OnceLock};

use crate::error::SymbolError;
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

/// Why a read of a section failed, for all sections of one file.
pub(crate) type Failure = Arc<OnceLock<SymbolError>>;

/// A section, or the part of one that belongs to one unit of a package.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionData {
    bytes: Bytes,
    part: Range<usize>,
}

#[derive(Debug, Clone)]
enum Bytes {
    Memory(Arc<Vec<u8>>),
    File(InFile),
}

/// A section that is not compressed and stays in the file.
#[derive(Clone)]
pub(crate) struct InFile {
    pub(crate) source: Arc<dyn ReadAt>,
    pub(crate) offset: u64,
    /// Reads go on after a failure; what they were for is missing.
    pub(crate) failure: Failure,
}

impl fmt::Debug for InFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InFile({:#x})", self.offset)
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Self::Memory(Arc::default())
    }
}

impl SectionData {
    /// A section of `size` bytes that stays in the file, which has them.
    pub(crate) fn in_file(file: InFile, size: usize) -> Self {
        Self { bytes: Bytes::File(file), part: 0..size }
    }

    /// The bytes from `offset` on; `None` when the section has not so many.
    pub(crate) fn part(&self, offset: u32, size: u32) -> Option<Self> {
        let part = self.within(offset as usize, size as usize)?;
        Some(Self { bytes: self.bytes.clone(), part })
    }

    pub(crate) fn size(&self) -> usize {
        self.part.len()
    }

    /// All bytes, when they are in memory.
    pub(crate) fn in_memory(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Memory(bytes) => bytes.get(self.part.clone()),
            Bytes::File(_) => None,
        }
    }

    /// Some bytes; `None` when the section has not so many, or cannot be read.
    pub(crate) fn read(&self, range: &Range<usize>) -> Option<Cow<'_, [u8]>> {
        let size = range.end.checked_sub(range.start)?;
        let range = self.within(range.start, size)?;
        match &self.bytes {
            Bytes::Memory(bytes) => bytes.get(range).map(Cow::Borrowed),
            Bytes::File(file) => {
                let offset = file.offset.checked_add(range.start as u64)?;
                let read = read_range(file.source.as_ref(), "a section", offset, size as u64);
                let note = |error: &SymbolError| drop(file.failure.set(error.clone()));
                read.inspect_err(note).ok().map(Cow::Owned)
            }
        }
    }

    fn within(&self, offset: usize, size: usize) -> Option<Range<usize>> {
        let start = self.part.start.checked_add(offset)?;
        let end = start.checked_add(size)?;
        (end <= self.part.end).then_some(start..end)
    }
}

impl From<Vec<u8>> for SectionData {
    fn from(bytes: Vec<u8>) -> Self {
        let part = 0..bytes.len();
        Self { bytes: Bytes::Memory(Arc::new(bytes)), part }
    }
}

/// The bytes in memory: none of a section that stays in the file.
impl Deref for SectionData {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.in_memory().unwrap_or_default()
    }
}
