//! Who reads a stream while it is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::index::{IndexVersion, FILE_HEADER_BYTES};
use crate::store::pool::Hold;
use crate::store::stream::Stream;
use crate::store::written::Written;

/// A data file and its index.
type Files = (Arc<File>, Arc<File>);

/// Files that are read. As long as they are held, they stay whatever becomes of their names; where
/// there are too many readers, they are opened for each packet.
#[derive(Debug)]
struct Reading {
    written: Arc<Written>,
    held: Option<(Files, Hold)>,
}

impl Reading {
    fn files(&self) -> io::Result<Files> {
        match &self.held {
            Some((files, _)) => Ok(files.clone()),
            None => self.written.files(),
        }
    }
}

/// A file, and how far its index is read.
#[derive(Debug)]
struct Present {
    written: Arc<Written>,
    reading: Option<Arc<Reading>>,
    at: u64,
}

/// A reader of the packets of a stream, in their order.
#[derive(Debug)]
pub struct Follower {
    stream: Arc<Stream>,
    present: Option<Present>,
    /// Where the last packet is.
    data: Option<Arc<Reading>>,
}

impl Follower {
    /// Begins with the oldest packet of the trace chunk that is written now.
    pub fn new(stream: Arc<Stream>) -> Self {
        stream.followers.fetch_add(1, Ordering::Relaxed);
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
                self.present = Some(Present::begin(first, &self.stream));
                continue;
            };
            if let Some(entry) = present.read(version, &self.stream)? {
                self.data.clone_from(&present.reading);
                return Ok(Some(entry));
            }
            let Some(next) = self.stream.part_after(&present.written) else { return Ok(None) };
            if present.at < present.written.index_end() {
                // The last entries came meanwhile.
                continue;
            }
            *present = Present::begin(next, &self.stream);
        }
    }

    /// Passes over all packets that the index has.
    pub fn pass_all(&mut self) {
        if let Some(written) = self.stream.first_incomplete() {
            let at = written.index_end().max(FILE_HEADER_BYTES);
            self.present = Some(Present { written, reading: None, at });
        }
    }

    /// Bytes of the file in which the last packet is.
    ///
    /// # Errors
    ///
    /// There are less, or they cannot be read.
    pub fn read(&self, at: u64, bytes: usize) -> io::Result<Vec<u8>> {
        let reading = self.data.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let (data, _) = reading.files()?;
        let mut buffer = vec![0; bytes];
        data.read_exact_at(&mut buffer, at)?;
        Ok(buffer)
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.stream.followers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Present {
    fn begin(written: Arc<Written>, stream: &Stream) -> Self {
        let mut present = Self { written, reading: None, at: FILE_HEADER_BYTES };
        present.open(stream);
        present
    }

    /// Opens the files, once there is an index.
    fn open(&mut self, stream: &Stream) {
        if self.reading.is_some() {
            return;
        }
        let Ok(files) = self.written.files() else { return };
        let held = stream.pool.hold().map(|hold| (files, hold));
        self.reading = Some(Arc::new(Reading { written: Arc::clone(&self.written), held }));
    }

    fn read(&mut self, version: IndexVersion, stream: &Stream) -> io::Result<Option<Vec<u8>>> {
        if self.at >= self.written.index_end() {
            return Ok(None);
        }
        self.open(stream);
        let files = self.reading.as_ref().and_then(|reading| reading.files().ok());
        let Some((_, index)) = files else {
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
        self.state().parts.first().cloned()
    }

    /// The first file to which entries may still be added.
    fn first_incomplete(&self) -> Option<Arc<Written>> {
        let state = self.state();
        // Packets are in files in the order of their numbers.
        let waiting = state.places.first_key_value().map(|(_, place)| &place.written);
        waiting.or_else(|| state.parts.last()).cloned()
    }

    /// The file after one to which no entry is added any more.
    fn part_after(&self, written: &Arc<Written>) -> Option<Arc<Written>> {
        let state = self.state();
        let waiting = state.places.first_key_value();
        if waiting.is_some_and(|(_, place)| place.written.number <= written.number) {
            return None;
        }
        state.parts.after(written.number).cloned()
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
