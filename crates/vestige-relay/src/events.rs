//! What whoever decides is told: commands that need judgement, connections and streams that end.

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use std::os::fd::AsRawFd;

use crate::control::{AddStream, CreateSession, RotateStreams};
use crate::sys::Wake;

/// A command of a connection, which waits until it is answered.
#[derive(Debug, PartialEq, Eq)]
pub enum Decision {
    /// Which protocol the peer speaks was found out before.
    CreateSession(CreateSession),
    /// A stream of the session.
    AddStream(AddStream),
    /// All that were added may be looked at.
    StreamsSent,
    /// Streams go on elsewhere.
    RotateStreams(RotateStreams),
    /// A trace chunk begins.
    CreateChunk { chunk: u64, time: u64, name: Option<Vec<u8>> },
    /// One ends.
    CloseChunk { chunk: u64, time: u64, action: Option<u32> },
    /// Whether one is there.
    ChunkExists { chunk: u64 },
    /// What is allowed.
    Configuration { flags: u64 },
}

/// What has happened.
#[derive(Debug)]
pub enum Event {
    /// A command is to be answered, in a version of the protocol.
    Asked { connection: u64, minor: u32, decision: Decision },
    /// A connection has ended, and why, if that was no usual end.
    Closed { connection: u64, problem: Option<String> },
    /// There is no space for packets of a stream.
    StreamFull { stream: u64 },
    /// A stream has all that it will have.
    StreamEnded { stream: u64 },
    /// No stream and nobody else uses a trace chunk any more.
    ChunkLeft { chunk: u64 },
}

/// Events in their order, and what wakes whoever takes them.
#[derive(Debug)]
pub struct Events {
    queue: Mutex<VecDeque<Event>>,
    wake: Wake,
}

impl Events {
    /// Has none yet.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    pub fn new() -> io::Result<Self> {
        Ok(Self { queue: Mutex::default(), wake: Wake::new()? })
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Event>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells one.
    pub fn tell(&self, event: Event) {
        let mut queue = self.queue();
        queue.push_back(event);
        if queue.len() == 1 {
            self.wake.wake();
        }
    }

    /// Takes all that there are.
    pub fn take(&self) -> VecDeque<Event> {
        let mut queue = self.queue();
        self.wake.clear();
        std::mem::take(&mut *queue)
    }
}

impl AsRawFd for Events {
    /// Readable once there are some.
    fn as_raw_fd(&self) -> RawFd {
        self.wake.as_raw_fd()
    }
}
