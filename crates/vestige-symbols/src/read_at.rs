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

    /// How many bytes are stored; fewer than [`ReadAt::len`] in a file with holes.
    fn stored(&self) -> u64 {
        self.len()
    }

    /// Fills `buf` with the bytes from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the source ends before `buf` is full, or whatever
    /// the source fails with.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()>;
}

/// Zeros in a row are data too, but a file of little else is an attack on memory.
const MAX_HOLES: u64 = 100;
/// Small files may have more.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// Whether so many bytes cannot but lie in a hole of a file that stores only so many.
pub fn is_hole(size: u64, stored: u64) -> bool {
    size > stored.saturating_mul(MAX_HOLES).saturating_add(ALWAYS_ALLOWED)
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
/// must not decide how much memory is asked for. Neither must a hole, which
/// lets a file be as long as it likes.
pub(crate) fn read_range(
    source: &dyn ReadAt,
    what: &'static str,
    offset: u64,
    size: u64,
) -> Result<Vec<u8>, SymbolError> {
    let length = check_range(source, what, offset, size)?;
    // The allocation itself would end the program where so much memory is not to be had.
    let mut probe: Vec<u8> = Vec::new();
    if std::hint::black_box(&mut probe).try_reserve_exact(length).is_err() {
        return Err(SymbolError::Malformed {
            what,
            offset,
            expected: "no more bytes than there is memory",
        });
    }
    drop(std::hint::black_box(probe));
    let mut data = vec![0; length];
    source.read_at(offset, &mut data).map_err(|error| SymbolError::Io {
        what,
        offset,
        kind: error.kind(),
        message: error.to_string(),
    })?;
    Ok(data)
}

/// Checks that a source has `size` bytes at `offset`, and more than zeros there.
pub(crate) fn check_range(
    source: &dyn ReadAt,
    what: &'static str,
    offset: u64,
    size: u64,
) -> Result<usize, SymbolError> {
    let available = source.len().saturating_sub(offset);
    let length = usize::try_from(size).ok().filter(|_| size <= available);
    let length =
        length.ok_or(SymbolError::Truncated { what, offset, expected: size, available })?;
    if is_hole(size, source.stored()) {
        let expected = "at most a hundred times the bytes that the file has on its disk";
        return Err(SymbolError::Malformed { what, offset, expected });
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros, of which only some are stored.
    struct Holes(u64, u64);

    impl ReadAt for Holes {
        fn len(&self) -> u64 {
            self.0
        }

        fn stored(&self) -> u64 {
            self.1
        }

        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_lies_in_a_hole_takes_no_memory() {
        let sizes = [(1 << 42, 4096), (1 << 46, 1 << 46), (2 << 20, 0)];
        for (size, stored) in sizes {
            let source = Holes(size, stored);
            let read = read_range(&source, "a section", 0, size);
            assert!(matches!(read, Err(SymbolError::Malformed { .. })), "{size}");
            assert_eq!(read_range(&source, "a section", size - 4, 4), Ok(vec![0; 4]));
        }
    }
}
