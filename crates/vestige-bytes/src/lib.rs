//! Where bytes come from: positioned reads, never a memory mapping.
//!
//! A mapped file that shrinks kills the process with SIGBUS; a positioned read gives an
//! error that can be reported. The crates that decode open nothing themselves: a caller
//! hands in anything that can read at an offset.

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

    /// How many bytes are stored; fewer than [`ReadAt::len`] in a file with holes.
    fn stored(&self) -> u64 {
        self.len()
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

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// `UnexpectedEof` when the source ends before it is full, or whatever the source
    /// fails with.
    fn fill_at(&self, mut offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(offset, buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    buffer = buffer.get_mut(count..).unwrap_or_default();
                    offset += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn read_slice(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    let count = rest.len().min(buffer.len());
    if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
        to.copy_from_slice(from);
    }
    count
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        Vec::len(self) as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(read_slice(self, offset, buffer))
    }
}

impl ReadAt for Arc<[u8]> {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(read_slice(self, offset, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, and is interrupted before each.
    struct Slow(Vec<u8>, std::sync::atomic::AtomicBool);

    impl ReadAt for Slow {
        fn len(&self) -> u64 {
            ReadAt::len(&self.0)
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
            if !self.1.fetch_not(std::sync::atomic::Ordering::Relaxed) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.0.read_at(offset, buffer.get_mut(..1).unwrap_or_default())
        }
    }

    #[test]
    fn a_buffer_is_filled_by_as_many_reads_as_it_takes() {
        let source = Slow(vec![1, 2, 3, 4], false.into());
        let mut buffer = [0; 3];
        assert!(source.fill_at(1, &mut buffer).is_ok());
        assert_eq!(buffer, [2, 3, 4]);
        let kind = source.fill_at(2, &mut buffer).map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::UnexpectedEof));
    }
}
