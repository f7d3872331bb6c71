//! Reads of a stated size, which a damaged header must not choose.

use vestige_bytes::ReadAt;

use crate::error::SymbolError;

/// Zeros in a row are data too, but a file of little else is an attack on memory.
const MAX_HOLES: u64 = 100;
/// Small files may have more.
const ALWAYS_ALLOWED: u64 = 1 << 20;

/// Whether so many bytes cannot but lie in a hole of a file that stores only so many.
pub fn is_hole(size: u64, stored: u64) -> bool {
    size > stored.saturating_mul(MAX_HOLES).saturating_add(ALWAYS_ALLOWED)
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
    source.fill_at(offset, &mut data).map_err(|error| SymbolError::Io {
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
    use std::io;

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

        fn read_at(&self, _: u64, buffer: &mut [u8]) -> io::Result<usize> {
            Ok(buffer.len())
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
