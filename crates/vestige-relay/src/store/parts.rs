//! The files of a stream that can be read: those of the present trace chunk from the first one that
//! is there on, and for who is behind some of the trace chunks before.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::store::written::Written;

/// Files that are kept for readers.
const MOST_PARTS: u64 = 1024;
/// Trace chunks whose files are kept: each has an open directory.
const MOST_CHUNKS: usize = 16;

/// Files, numbered one after the other.
#[derive(Debug, Default)]
pub(super) struct Parts {
    files: VecDeque<Arc<Written>>,
    /// The numbers of the first files of trace chunks, the present one last.
    chunks: VecDeque<u64>,
    /// The first file of the present trace chunk that has not been replaced.
    first: u64,
    last: u64,
}

impl Parts {
    /// The number of the next file.
    pub fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Adds the next file.
    ///
    /// # Arguments
    ///
    /// * `is_first`: Whether it is the first one of a trace chunk.
    /// * `file_count`: Files of a trace chunk that are there at once; 0: any number.
    /// * `is_followed`: Whether somebody may be behind.
    pub fn add(
        &mut self,
        written: Arc<Written>,
        is_first: bool,
        file_count: u64,
        is_followed: bool,
    ) {
        self.last = written.number;
        if is_first {
            self.first = self.last;
            self.chunks.push_back(self.last);
        }
        self.files.push_back(written);
        let most = if file_count == 0 { MOST_PARTS } else { file_count.min(MOST_PARTS) };
        self.first = self.first.max((self.last + 1).saturating_sub(most));
        while self.chunks.len() > MOST_CHUNKS {
            self.chunks.pop_front();
        }
        let oldest = self.chunks.front().copied().unwrap_or_default();
        let oldest = oldest.max((self.last + 1).saturating_sub(MOST_PARTS));
        self.drop_before(if is_followed { oldest } else { self.first });
    }

    /// Keeps the last file only.
    pub fn make_room(&mut self) {
        self.first = self.last;
        self.drop_before(self.last);
    }

    fn drop_before(&mut self, number: u64) {
        while self.files.front().is_some_and(|file| file.number < number) {
            self.files.pop_front();
        }
    }

    fn get(&self, number: u64) -> Option<&Arc<Written>> {
        let front = self.files.front()?.number;
        self.files.get(usize::try_from(number.checked_sub(front)?).ok()?)
    }

    /// Files of the present trace chunk.
    pub fn present(&self) -> impl Iterator<Item = &Arc<Written>> {
        self.files.iter().filter(|file| file.number >= self.first)
    }

    /// The first one of the present trace chunk.
    pub fn first(&self) -> Option<&Arc<Written>> {
        self.get(self.first)
    }

    /// The last one.
    pub fn last(&self) -> Option<&Arc<Written>> {
        self.files.back()
    }

    /// The one after another; the first one of the present trace chunk if that has gone away.
    pub fn after(&self, number: u64) -> Option<&Arc<Written>> {
        if number >= self.last {
            return None;
        }
        self.get(number + 1).or_else(|| self.first())
    }
}
