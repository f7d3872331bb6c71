//! Where bytes come from: see [`vestige_bytes`].

use std::io;
use std::sync::Arc;

pub use vestige_bytes::ReadAt;

/// The beginning of a source.
pub struct Beginning {
    /// All of it.
    pub source: Arc<dyn ReadAt>,
    /// How many bytes count.
    pub length: u64,
}

impl ReadAt for Beginning {
    fn len(&self) -> u64 {
        self.length
    }

    fn has_grown(&self) -> bool {
        self.source.has_grown()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.length.saturating_sub(offset);
        let count = usize::try_from(rest).unwrap_or(usize::MAX).min(buffer.len());
        self.source.read_at(offset, buffer.get_mut(..count).unwrap_or_default())
    }
}
