//! Regular files as sources of bytes.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use vestige_ctf::source::ReadAt;

/// `O_NONBLOCK` of Linux: opening a FIFO must not wait for a writer.
const NON_BLOCKING: i32 = 0o4000;

/// What `st_blocks` counts (inode(7)).
const BLOCK: u64 = 512;

/// A regular file that is open for reading at any offset.
pub struct FileSource {
    file: File,
    size: u64,
    stored: u64,
}

impl FileSource {
    /// Opens a regular file; anything else is refused without waiting for it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let size = metadata.len();
        // Some file systems do not tell.
        let stored = match metadata.blocks() {
            0 => size,
            blocks => blocks.saturating_mul(BLOCK),
        };
        Ok(Self { file, size, stored })
    }

    /// The bytes that the file takes on its disk.
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// What tells the file, with its present contents, from others: device, inode, size,
    /// time of change in nanoseconds.
    pub fn identity(&self) -> io::Result<(u64, u64, u64, i64)> {
        let metadata = self.file.metadata()?;
        let modified = metadata.mtime().saturating_mul(1_000_000_000);
        let modified = modified.saturating_add(metadata.mtime_nsec());
        Ok((metadata.dev(), metadata.ino(), metadata.len(), modified))
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.size
    }

    fn has_grown(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.len() > self.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
}
