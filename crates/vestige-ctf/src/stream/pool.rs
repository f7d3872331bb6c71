//! Buffers that are used again.
//!
//! A batch lives for milliseconds; asking the system for its memory each time costs more
//! than scanning its records.

use std::sync::Mutex;

use super::record_place::Record;

/// Most buffers kept for a data stream: the batch that is merged and those read ahead.
const MOST_BUFFERS: usize = 8;

/// The memory of a batch.
#[derive(Debug, Default)]
pub struct Buffers {
    /// For the bytes of the window.
    pub data: Vec<u8>,
    /// For the records.
    pub records: Vec<Record>,
}

/// Buffers of batches that are gone, for those to come.
///
/// Nobody waits for the lock: a thread that held it in the parent of a forked process is
/// not there to release it, and making a buffer costs little.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<Buffers>>);

impl Pool {
    /// Takes buffers, with whatever is in them.
    #[must_use]
    pub fn take(&self) -> Buffers {
        self.0.try_lock().ok().and_then(|mut free| free.pop()).unwrap_or_default()
    }

    /// Gives buffers back, unless enough are kept or an odd record made them huge.
    pub fn give(&self, buffers: Buffers) {
        let Ok(mut free) = self.0.try_lock() else { return };
        if free.len() < MOST_BUFFERS && buffers.data.capacity() <= 1 << 20 {
            free.push(buffers);
        }
    }
}
