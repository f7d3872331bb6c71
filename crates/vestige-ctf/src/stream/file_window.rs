//! A part of a file that is kept in memory, so that one read serves many packets.

use super::damage::{Damage, DamageKind};
use crate::source::ReadAt;

/// Bytes that are read at first.
const FIRST_READ: usize = 4096;
/// Bytes that are read where a jump says that what follows is not wanted.
const AFTER_JUMP: usize = 512;
/// Most bytes that are read ahead of what is asked for.
pub(super) const MOST_AHEAD: usize = 256 * 1024;

/// Some bytes of a file, as they were when they were read.
///
/// Whoever goes through a file in small steps gets most of them without a system call: each
/// read that goes on where the last one ended, or little further, takes twice as much. Large steps read no more
/// than they ask for.
#[derive(Debug)]
pub(super) struct FileWindow {
    start: u64,
    bytes: Vec<u8>,
    ahead: usize,
    most_ahead: usize,
}

impl Default for FileWindow {
    fn default() -> Self {
        Self::new(MOST_AHEAD)
    }
}

impl FileWindow {
    /// A window that reads at most so many bytes ahead.
    pub fn new(most_ahead: usize) -> Self {
        let most_ahead = most_ahead.clamp(FIRST_READ, MOST_AHEAD);
        Self { start: 0, bytes: Vec::new(), ahead: FIRST_READ, most_ahead }
    }

    /// The bytes at an offset: as many as asked for.
    ///
    /// # Errors
    ///
    /// When the file has fewer, or cannot be read.
    pub fn bytes(
        &mut self,
        source: &dyn ReadAt,
        offset: u64,
        count: usize,
    ) -> Result<&[u8], Damage> {
        if !self.holds(offset, count) {
            self.fill(source, offset, count)?;
        }
        let at = offset.saturating_sub(self.start) as usize;
        Ok(self.bytes.get(at..at + count).unwrap_or_default())
    }

    /// Forgets what it holds, for another file.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ahead = FIRST_READ;
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn holds(&self, offset: u64, count: usize) -> bool {
        offset >= self.start && offset.saturating_add(count as u64) <= self.end()
    }

    fn fill(&mut self, source: &dyn ReadAt, offset: u64, count: usize) -> Result<(), Damage> {
        let near = self.start..=self.end().saturating_add(FIRST_READ as u64);
        let goes_on = !self.bytes.is_empty() && near.contains(&offset);
        self.ahead = match goes_on {
            true => (self.ahead * 2).min(self.most_ahead),
            false if self.bytes.is_empty() => FIRST_READ,
            false => AFTER_JUMP,
        };
        let rest = usize::try_from(source.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = self.ahead.min(rest).max(count);
        let buffer = std::mem::take(&mut self.bytes);
        let read = match read_exactly(source, offset, wanted, buffer) {
            // What lies behind may not be readable; that is no reason to refuse this.
            Err(_) if wanted > count => read_exactly(source, offset, count, Vec::new()),
            read => read,
        };
        self.bytes = read?;
        self.start = offset;
        Ok(())
    }
}

/// Reads `count` bytes that the file had when it was opened.
pub(super) fn read_exactly(
    source: &dyn ReadAt,
    offset: u64,
    count: usize,
    mut buffer: Vec<u8>,
) -> Result<Vec<u8>, Damage> {
    buffer.resize(count, 0);
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let at = offset + filled as u64;
        match source.read_at(at, rest) {
            Ok(0) => {
                let message = format!(
                    "the file shrank while it was read: it had {} bytes when it was opened",
                    source.len()
                );
                return Err(Damage::new(DamageKind::ReadFailed, at, source.len(), message));
            }
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("cannot read: {error}");
                return Err(Damage::new(DamageKind::ReadFailed, at, source.len(), message));
            }
        }
    }
    Ok(buffer)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Notes what is read of it; its last bytes cannot be read.
    struct Watched {
        bytes: Vec<u8>,
        readable: usize,
        reads: Mutex<Vec<(u64, usize)>>,
    }

    impl ReadAt for Watched {
        fn len(&self) -> u64 {
            self.bytes.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.reads.lock().unwrap().push((offset, buffer.len()));
            let readable = self.bytes[..self.readable].to_vec();
            readable.read_at(offset, buffer)
        }
    }

    fn watched(size: usize, readable: usize) -> Watched {
        let bytes = (0..size).map(|at| (at % 251) as u8).collect();
        Watched { bytes, readable, reads: Mutex::default() }
    }

    #[test]
    fn small_steps_through_a_file_cost_few_reads() {
        let source = watched(1 << 20, 1 << 20);
        let mut window = FileWindow::default();
        for at in (0..1 << 20).step_by(64) {
            assert_eq!(window.bytes(&source, at, 64).unwrap(), &source.bytes[at as usize..][..64]);
        }
        assert!(source.reads.lock().unwrap().len() < 12);
    }

    #[test]
    fn large_steps_read_no_more_than_the_first_bytes() {
        let source = watched(1 << 20, 1 << 20);
        let mut window = FileWindow::default();
        for at in (0..1 << 20).step_by(100_000) {
            assert_eq!(window.bytes(&source, at, 10).unwrap().len(), 10);
        }
        let reads = source.reads.lock().unwrap();
        assert_eq!(reads.first(), Some(&(0, FIRST_READ)));
        assert!(reads.iter().skip(1).all(|&(_, size)| size <= AFTER_JUMP));
    }

    #[test]
    fn what_cannot_be_read_ahead_does_not_hide_what_can() {
        let source = watched(10_000, 5_000);
        let mut window = FileWindow::default();
        assert_eq!(window.bytes(&source, 4_000, 1_000).unwrap(), &source.bytes[4_000..5_000]);
        let damage = window.bytes(&source, 4_500, 1_000).unwrap_err();
        assert_eq!((damage.kind, damage.start), (DamageKind::ReadFailed, 5_000));
    }
}
