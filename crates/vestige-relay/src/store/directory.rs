//! Directories of streams, and the trace chunks that they are of.

use std::fs::File;
use std::sync::Arc;

use crate::events::{Event, Events};

/// A trace chunk: once nobody has it any more, that is told.
#[derive(Debug)]
pub struct Chunk {
    number: u64,
    events: Arc<Events>,
}

impl Chunk {
    /// Numbers one.
    pub fn new(number: u64, events: Arc<Events>) -> Self {
        Self { number, events }
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
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
