//! Where bytes come from: a positioned read, never a memory mapping.
//!
//! A mapped file that shrinks kills the process with SIGBUS; a positioned read gives an
//! error that can be reported. So every decoder of this crate works on its own buffer.

use std::io;
use std::sync::Arc;

/// A source of bytes that can be read at any offset, by many threads at once.
pub trait ReadAt: Send + Sync {
    /// The number of bytes when the source was opened.
    fn len(&self) -> u64;

    /// Whether there is no byte at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there are more bytes now: then the last ones were perhaps being written.
    fn has_grown(&self) -> bool {
        false
    }

    /// Reads at `offset` into `buffer`; returns how many bytes there were, which is less
    /// than asked for only at the end of the source.
    ///
    /// # Errors
    ///
    /// Whatever the operating system reports.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

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

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = self.get(start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }
}
