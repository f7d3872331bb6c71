//! The threads, and what whoever decides tells them.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::events::Events;
use crate::memory::Memory;
use crate::server::worker::{Inbox, Kind, Message, Standing, Worker};
use crate::store::{Pool, Store};
use crate::sys::take_socket;

/// Reads connections on threads of its own.
#[derive(Debug)]
pub struct Server {
    store: Arc<Store>,
    events: Arc<Events>,
    inboxes: Vec<Arc<Inbox>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    /// Which thread has a connection, and what for.
    places: Mutex<HashMap<u64, (usize, Arc<Standing>)>>,
    last: AtomicU64,
}

impl Server {
    /// Starts threads.
    ///
    /// # Arguments
    ///
    /// * `threads`: How many; one at least.
    /// * `most_files`: Files of streams that are open at once, a third of them for readers.
    /// * `most_memory`: Bytes of memory that peers may cause to be used.
    ///
    /// # Errors
    ///
    /// The system has no threads or descriptors left.
    pub fn start(threads: usize, most_files: usize, most_memory: usize) -> io::Result<Self> {
        let events = Arc::new(Events::new()?);
        let pool = Arc::new(Pool::new(most_files - most_files / 3));
        let store = Arc::new(Store::new(pool, Arc::clone(&events), Memory::new(most_memory)));
        let mut server = Self {
            store,
            events,
            inboxes: Vec::new(),
            threads: Mutex::default(),
            places: Mutex::default(),
            last: AtomicU64::new(0),
        };
        for number in 0..threads.max(1) {
            let inbox = Arc::new(Inbox::new()?);
            let (store, events) = (Arc::clone(&server.store), Arc::clone(&server.events));
            let worker = Worker::new(Arc::clone(&inbox), store, events)?;
            let name = format!("relay-{number}");
            let thread = Builder::new().name(name).spawn(|| worker.run())?;
            server.inboxes.push(inbox);
            server.threads().push(thread);
        }
        Ok(server)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self) -> MutexGuard<'_, HashMap<u64, (usize, Arc<Standing>)>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all threads go on.
    pub fn is_running(&self) -> bool {
        !self.threads().iter().any(JoinHandle::is_finished)
    }

    /// The streams.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What happens.
    pub fn events(&self) -> &Arc<Events> {
        &self.events
    }

    /// Reads a connection from now on; its number.
    ///
    /// # Arguments
    ///
    /// * `descriptor`: The socket, which is taken over.
    /// * `peer`: Whose commands come there; nothing if packets come.
    ///
    /// # Errors
    ///
    /// The descriptor is none.
    pub fn add(&self, descriptor: RawFd, peer: Option<&str>) -> io::Result<u64> {
        let socket = take_socket(descriptor)?;
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let count = self.inboxes.len() as u64;
        let place = usize::try_from(number.checked_rem(count).unwrap_or(0)).unwrap_or(0);
        let standing = Arc::new(Standing::begin());
        self.places().insert(number, (place, Arc::clone(&standing)));
        let kind = peer.map_or(Kind::Data, |peer| Kind::Control(self.store.memory().account(peer)));
        self.tell(number, Message::Add { number, socket, kind, standing });
        Ok(number)
    }

    /// The connections that have nothing to do with a session, and since when.
    pub fn idle(&self) -> Vec<(u64, Duration)> {
        let places = self.places();
        let idle =
            places.iter().filter_map(|(number, (_, standing))| Some((*number, standing.idle()?)));
        idle.collect()
    }

    fn tell(&self, number: u64, message: Message) {
        let place = self.places().get(&number).map(|(place, _)| *place);
        if let Some(inbox) = place.and_then(|place| self.inboxes.get(place)) {
            inbox.put(message);
        }
    }

    /// Answers the command that a connection waits for; the session, if it was created.
    pub fn reply(&self, number: u64, bytes: Vec<u8>, session: Option<u64>) {
        self.tell(number, Message::Reply { number, bytes, session });
    }

    /// Ends a connection; that is told like any end.
    pub fn drop_connection(&self, number: u64, problem: String) {
        self.tell(number, Message::Drop { number, problem });
    }

    /// A connection that has ended is forgotten.
    pub fn forget(&self, number: u64) {
        self.places().remove(&number);
    }

    /// Ends all connections and threads. What has come until then is written.
    pub fn stop(&self) {
        for inbox in &self.inboxes {
            inbox.put(Message::Stop);
        }
        for thread in std::mem::take(&mut *self.threads()) {
            // A thread that has failed has ended as well.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
