//! Where bytes come from: positioned reads on a source of known length.
//!
//! The crate opens nothing itself. A caller hands in anything that can read at
//! an offset, so a large debug file is read section by section, and a file
//! that shrinks meanwhile gives an error rather than a signal, as a mapping
//! would.

use std::io;
use std::sync::Arc;

use crate::error::SymbolError;

/// A source of bytes that can be read at any offset from several threads.
pub trait ReadAt: Send + Sync {
    /// The number of bytes of the source.
    fn len(&self) -> u64;

    /// Whether the source has no byte.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the source ends before `buf` is full, or whatever
    /// the source fails with.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
}

fn read_slice(data: &[u8], offset: u64, buf: &mut [u8]) -> io::Result<()> {
    let source = usize::try_from(offset)
        .ok()
        .and_then(|start| data.get(start..start.checked_add(buf.len())?))
        .ok_or(io::ErrorKind::UnexpectedEof)?;
    buf.copy_from_slice(source);
    Ok(())
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        read_slice(self, offset, buf)
    }
}

impl ReadAt for Arc<[u8]> {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        read_slice(self, offset, buf)
    }
}

/// Reads `size` bytes at `offset`, after a check against the source's length.
///
/// The check comes before the allocation: a size taken from a damaged header
/// must not decide how much memory is asked for.
pub(crate) fn read_range(
    source: &dyn ReadAt,
    what: &'static str,
    offset: u64,
    size: u64,
) -> Result<Vec<u8>, SymbolError> {
    let available = source.len().saturating_sub(offset);
    let length = usize::try_from(size).ok().filter(|_| size <= available);
    let Some(length) = length else {
        return Err(SymbolError::Truncated { what, offset, expected: size, available });
    };
    let mut data = vec![0; length];
    source.read_at(offset, &mut data).map_err(|error| SymbolError::Io {
        what,
        offset,
        kind: error.kind(),
        message: error.to_string(),
    })?;
    Ok(data)
}
