//! All streams, and which session they are of.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::events::{Event, Events};
use crate::memory::{Account, Memory};
use crate::store::directory::Directory;
use crate::store::pool::Pool;
use crate::store::session::SessionStreams;
use crate::store::stream::{Layout, Stream};

#[derive(Debug, Default)]
struct All {
    streams: HashMap<u64, Arc<Stream>>,
    sessions: HashMap<u64, SessionStreams>,
    last: u64,
}

/// All streams that have not ended.
#[derive(Debug)]
pub struct Store {
    pool: Arc<Pool>,
    events: Arc<Events>,
    memory: Memory,
    all: Mutex<All>,
}

impl Store {
    /// Has none yet.
    pub fn new(pool: Arc<Pool>, events: Arc<Events>, memory: Memory) -> Self {
        Self { pool, events, memory, all: Mutex::default() }
    }

    /// What peers may use.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A session has been created: its streams use the memory of a peer.
    pub fn begin_session(&self, session: u64, account: Arc<Account>) {
        self.all().sessions.entry(session).or_default().account = Some(account);
    }

    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a stream, which gets the next number.
    ///
    /// # Errors
    ///
    /// Its file cannot be made.
    pub fn add(&self, layout: Layout, directory: &Arc<Directory>) -> io::Result<Arc<Stream>> {
        let session = layout.session;
        let (number, account) = {
            let mut all = self.all();
            all.last += 1;
            (all.last, all.sessions.get(&session).and_then(|session| session.account.clone()))
        };
        // One that nobody has told of has no peer.
        let account = account.unwrap_or_else(|| self.memory.account(""));
        let made = Stream::create(number, layout, directory, &self.pool, &account);
        let stream = Arc::new(made?);
        let mut all = self.all();
        all.streams.insert(number, Arc::clone(&stream));
        let of_session = all.sessions.entry(session).or_default();
        of_session.streams.insert(number, Arc::clone(&stream));
        Ok(stream)
    }

    /// A stream that has not ended.
    pub fn get(&self, number: u64) -> Option<Arc<Stream>> {
        self.all().streams.get(&number).cloned()
    }

    /// The same, if it is of a session.
    pub fn get_of(&self, number: u64, session: u64) -> Option<Arc<Stream>> {
        self.get(number).filter(|stream| stream.layout.session == session)
    }

    /// The streams of a session that have not ended.
    pub fn of_session(&self, session: u64) -> Vec<Arc<Stream>> {
        let all = self.all();
        let streams = all.sessions.get(&session);
        streams.map(|one| one.streams.values().cloned().collect()).unwrap_or_default()
    }

    /// There is no space for packets of a stream.
    pub fn tell_full(&self, stream: &Stream) {
        self.events.tell(Event::StreamFull { stream: stream.number });
    }

    /// A stream has ended.
    pub fn remove(&self, stream: &Stream) {
        let mut all = self.all();
        if all.streams.remove(&stream.number).is_none() {
            return;
        }
        if let Some(session) = all.sessions.get_mut(&stream.layout.session) {
            session.streams.remove(&stream.number);
        }
        drop(all);
        self.events.tell(Event::StreamEnded { stream: stream.number });
    }

    /// Nothing comes after a packet of a stream.
    pub fn close(&self, stream: &Stream, last: Option<u64>) {
        if stream.close(last) {
            self.remove(stream);
        }
    }

    /// A data connection sends streams of a session.
    pub fn begin_data(&self, session: u64) {
        if let Some(session) = self.all().sessions.get_mut(&session) {
            session.data_connections += 1;
        }
    }

    /// A data connection of a session has ended.
    pub fn end_data(&self, session: u64) {
        let is_last = self.all().sessions.get_mut(&session).is_some_and(|session| {
            session.data_connections = session.data_connections.saturating_sub(1);
            session.data_connections == 0 && session.is_gone
        });
        if is_last {
            self.abandon(session);
        }
    }

    /// The control connection of a session has ended: of its streams comes what is known to
    /// come, as long as there is a data connection.
    pub fn end_session(&self, session: u64) {
        for stream in self.of_session(session) {
            self.close(&stream, None);
        }
        let is_last = self.all().sessions.get_mut(&session).is_some_and(|session| {
            session.is_gone = true;
            session.data_connections == 0
        });
        if is_last {
            self.abandon(session);
        }
    }

    fn abandon(&self, session: u64) {
        for stream in self.of_session(session) {
            if stream.abandon() {
                self.remove(&stream);
            }
        }
        self.all().sessions.remove(&session);
    }
}
