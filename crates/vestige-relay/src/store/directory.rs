//! Directories of streams, and the trace chunks that they are of.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::events::{Event, Events};
use crate::memory::{Account, Share};

/// Bytes that whoever decides keeps for the name of a stream, beside it.
const NAME_BYTES: usize = 256;

/// A trace chunk: once nobody has it any more, that is told.
#[derive(Debug)]
pub struct Chunk {
    number: u64,
    events: Arc<Events>,
    share: Mutex<Option<Share>>,
}

impl Chunk {
    /// Numbers one.
    pub fn new(number: u64, events: Arc<Events>) -> Self {
        Self { number, events, share: Mutex::default() }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes memory for what is kept of a stream as long as the trace chunk is there.
    ///
    /// # Errors
    ///
    /// There is not so much left.
    pub fn account_for(&self, account: &Arc<Account>, name_bytes: usize) -> io::Result<()> {
        let bytes = NAME_BYTES + name_bytes;
        let mut share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *share {
            Some(share) => share.grow(bytes),
            none => {
                *none = Some(account.take(bytes)?);
                Ok(())
            }
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        self.events.tell(Event::ChunkLeft { chunk: self.number });
    }
}

/// A directory of a trace chunk, opened: it is the same when the chunk is moved.
#[derive(Debug)]
pub struct Directory {
    file: Arc<File>,
    chunk: Arc<Chunk>,
}

impl Directory {
    /// Takes an open directory.
    pub fn new(file: File, chunk: Arc<Chunk>) -> Self {
        Self { file: Arc::new(file), chunk }
    }

    /// The directory itself; who has only that does not keep the trace chunk.
    pub fn file(&self) -> &Arc<File> {
        &self.file
    }

    /// What it is of.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }
}
