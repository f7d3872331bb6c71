//! The bytes of one section, shared between those that read them.

use std::ops::{Deref, Range};
use std::sync::Arc;

/// A section, or the part of one that belongs to one unit of a package.
#[derive(Debug, Clone, Default)]
pub(crate) struct SectionData {
    bytes: Arc<Vec<u8>>,
    part: Range<usize>,
}

impl SectionData {
    /// The bytes from `offset` on; `None` when the section has not so many.
    pub(crate) fn part(&self, offset: u32, size: u32) -> Option<Self> {
        let start = self.part.start.checked_add(offset as usize)?;
        let end = start.checked_add(size as usize)?;
        (end <= self.part.end).then(|| Self { bytes: Arc::clone(&self.bytes), part: start..end })
    }
}

impl From<Vec<u8>> for SectionData {
    fn from(bytes: Vec<u8>) -> Self {
        let part = 0..bytes.len();
        Self { bytes: Arc::new(bytes), part }
    }
}

impl Deref for SectionData {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.bytes.get(self.part.clone()).unwrap_or_default()
    }
}
