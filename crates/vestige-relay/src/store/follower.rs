//! Who reads a stream while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::index::{IndexVersion, FILE_HEADER_BYTES};
use crate::store::stream::Stream;
use crate::store::written::Written;

/// Files that somebody may be behind; then they go on with the oldest of the present trace chunk.
const MOST_BEHIND: u64 = 4096;

/// A file, and how far its index is read. The descriptors stay whatever becomes of the names.
#[derive(Debug)]
struct Present {
    written: Arc<Written>,
    files: Option<(Arc<File>, Arc<File>)>,
    at: u64,
}

/// A reader of the packets of a stream, in their order.
#[derive(Debug)]
pub struct Follower {
    stream: Arc<Stream>,
    present: Option<Present>,
    /// The file of the last packet.
    data: Option<Arc<File>>,
}

impl Follower {
    /// Begins with the oldest packet of the trace chunk that is written now.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self { stream, present: None, data: None }
    }

    /// The next entry of the index, as its file has it; nothing if there is none yet. What has
    /// been removed before it was read is passed over.
    ///
    /// # Errors
    ///
    /// An index file cannot be read.
    pub fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        let Some(version) = self.stream.layout.index else { return Ok(None) };
        loop {
            let Some(present) = &mut self.present else {
                let Some(first) = self.stream.first_part() else { return Ok(None) };
                self.present = Some(Present::begin(first));
                continue;
            };
            if let Some(entry) = present.read(version)? {
                self.data = present.files.as_ref().map(|(data, _)| Arc::clone(data));
                return Ok(Some(entry));
            }
            let Some(next) = self.stream.part_after(&present.written) else { return Ok(None) };
            if present.at < present.written.index_end() {
                // The last entries came meanwhile.
                continue;
            }
            *present = Present::begin(next);
        }
    }

    /// Bytes of the file in which the last packet is.
    ///
    /// # Errors
    ///
    /// There are less, or they cannot be read.
    pub fn read(&self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let data = self.data.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut buffer = vec![0; bytes];
        data.read_exact_at(&mut buffer, at)?;
        Ok(buffer)
    }
}

impl Present {
    fn begin(written: Arc<Written>) -> Self {
        let mut present = Self { written, files: None, at: FILE_HEADER_BYTES };
        present.open();
        present
    }

    /// Opens the files, once there is an index.
    fn open(&mut self) {
        if self.files.is_none() {
            self.files = self.written.files().ok();
        }
    }

    fn read(&mut self, version: IndexVersion) -> io::Result<Option<Vec<u8>>> {
        if self.at >= self.written.index_end() {
            return Ok(None);
        }
        self.open();
        let Some((_, index)) = &self.files else {
            // It has been removed.
            self.at = self.written.index_end();
            return Ok(None);
        };
        let mut entry = vec![0; usize::try_from(version.entry_bytes()).unwrap_or_default()];
        index.read_exact_at(&mut entry, self.at)?;
        self.at += version.entry_bytes();
        Ok(Some(entry))
    }
}

impl Stream {
    fn first_part(&self) -> Option<Arc<Written>> {
        self.state().parts.front().cloned()
    }

    /// The file after one to which no entry is added any more.
    fn part_after(&self, written: &Arc<Written>) -> Option<Arc<Written>> {
        let state = self.state();
        let is_waiting = state.places.values().any(|place| Arc::ptr_eq(&place.written, written));
        let next = written.next().filter(|_| !is_waiting)?;
        let newest = state.written.as_ref().map_or(0, |newest| newest.number);
        if newest.saturating_sub(next.number) > MOST_BEHIND {
            return state.parts.front().cloned();
        }
        Some(Arc::clone(next))
    }

    /// Metadata from a byte on, no more than so many bytes.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read_metadata(&self, at: u64, most: usize) -> io::Result<Vec<u8>> {
        let (written, end) = {
            let state = self.state();
            (state.written.clone(), state.end)
        };
        let Some(written) = written.filter(|_| self.layout.is_metadata) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let bytes = usize::try_from(end.saturating_sub(at)).unwrap_or(most).min(most);
        let mut buffer = vec![0; bytes];
        let count = written.read(at, &mut buffer)?;
        buffer.truncate(count);
        Ok(buffer)
    }
}
