//! Regular files as sources of bytes.

use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use vestige_ctf::source::ReadAt;

use crate::open_files::ReopenedFile;

/// What `st_blocks` counts (inode(7)).
const BLOCK: u64 = 512;

/// Which file was opened: device, inode, size and time of change.
pub type Identity = (u64, u64, u64, i64);

/// A regular file that is open for reading at any offset.
pub struct FileSource {
    file: ReopenedFile,
    size: u64,
    stored: u64,
}

impl FileSource {
    /// Opens a regular file; anything else is refused without waiting for it.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let (file, metadata) = ReopenedFile::open(path.as_ref())?;
        let size = metadata.len();
        // Some file systems do not tell.
        let stored = match metadata.blocks() {
            0 => size,
            blocks => blocks.saturating_mul(BLOCK),
        };
        Ok(Self { file, size, stored })
    }

    /// What tells the file, with its present contents, from others: device, inode, size,
    /// time of change in nanoseconds.
    pub fn identity(&self) -> io::Result<Identity> {
        let metadata = self.file.file()?.metadata()?;
        let modified = metadata.mtime().saturating_mul(1_000_000_000);
        let modified = modified.saturating_add(metadata.mtime_nsec());
        Ok((metadata.dev(), metadata.ino(), metadata.len(), modified))
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.size
    }

    /// The bytes that the file takes on its disk.
    fn stored(&self) -> u64 {
        self.stored
    }

    fn has_grown(&self) -> bool {
        let metadata = self.file.file().and_then(|file| file.metadata());
        metadata.is_ok_and(|metadata| metadata.len() > self.size)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.file()?.read_at(buffer, offset)
    }
}
