//! A thread that reads connections.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::events::{Event, Events};
use crate::memory::Account;
use crate::server::control::ControlConnection;
use crate::server::data::DataConnection;
use crate::server::pace::Pace;
use crate::store::Store;
use crate::sys::{receive, send, Poll, PollEvent, Wake, READABLE, WRITABLE};

/// Bytes that are received at once.
const BUFFER_BYTES: usize = 1 << 20;
/// Times that one connection is read before others have their turn.
const READS: usize = 8;
/// Events that are taken at once.
const EVENTS: usize = 256;
/// The key of what wakes the thread.
const WAKE: u64 = 0;

/// What the thread is told.
#[derive(Debug)]
pub enum Message {
    /// A connection has come.
    Add { number: u64, socket: OwnedFd, kind: Kind, standing: Arc<Standing> },
    /// A decision is made: what is sent, and the session, if there is a new one.
    Reply { number: u64, bytes: Vec<u8>, session: Option<u64> },
    /// A connection is to end.
    Drop { number: u64, problem: String },
    /// All are to end.
    Stop,
}

/// Where the thread is told.
#[derive(Debug)]
pub struct Inbox {
    messages: Mutex<Vec<Message>>,
    wake: Wake,
}

impl Inbox {
    /// Has no messages yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self { messages: Mutex::default(), wake: Wake::new()? })
    }

    /// Tells something.
    pub fn put(&self, message: Message) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        self.wake.wake();
    }

    fn take(&self) -> Vec<Message> {
        self.wake.clear();
        std::mem::take(&mut *self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What comes on a connection.
#[derive(Debug)]
pub enum Kind {
    /// Commands of a peer, and its memory.
    Control(Arc<Account>),
    /// Packets.
    Data,
}

/// Since when a connection is there, and whether it has to do with a session.
#[derive(Debug)]
pub struct Standing {
    since: Instant,
    has_session: AtomicBool,
}

impl Standing {
    /// It begins, without one.
    pub fn begin() -> Self {
        Self { since: Instant::now(), has_session: AtomicBool::new(false) }
    }

    /// For how long it has been there without a session.
    pub fn idle(&self) -> Option<Duration> {
        (!self.has_session.load(Ordering::Relaxed)).then(|| self.since.elapsed())
    }

    fn set_session(&self) {
        self.has_session.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum Protocol {
    Control { connection: ControlConnection, is_waiting: bool, session: Option<u64> },
    Data(DataConnection),
}

#[derive(Debug)]
struct Connection {
    number: u64,
    standing: Arc<Standing>,
    socket: OwnedFd,
    protocol: Protocol,
    interest: u32,
}

/// Why a connection ends: nothing if its peer has closed it.
type End = Option<String>;

/// A thread's connections.
pub struct Worker {
    poll: Poll,
    inbox: Arc<Inbox>,
    store: Arc<Store>,
    events: Arc<Events>,
    connections: HashMap<u64, Connection>,
    buffer: Vec<u8>,
    pace: Pace,
}

impl Worker {
    /// Has no connections yet.
    pub fn new(inbox: Arc<Inbox>, store: Arc<Store>, events: Arc<Events>) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.add(&inbox.wake, WAKE, READABLE)?;
        let connections = HashMap::new();
        let (buffer, pace) = (vec![0; BUFFER_BYTES], Pace::new(Instant::now()));
        Ok(Self { poll, inbox, store, events, connections, buffer, pace })
    }

    /// Reads connections until it is told to stop.
    pub fn run(mut self) {
        let mut events = [PollEvent { events: 0, u64: 0 }; EVENTS];
        while let Ok(keys) = self.poll.wait(&mut events) {
            for key in keys {
                if key != WAKE {
                    self.go_on(key);
                } else if !self.read_messages() {
                    return self.end_all();
                }
            }
            if let Some(rest) = self.pace.end_turn(Instant::now()) {
                std::thread::sleep(rest);
            }
        }
        self.end_all();
    }

    fn end_all(&mut self) {
        for (_, connection) in std::mem::take(&mut self.connections) {
            self.end(connection, None);
        }
    }

    fn read_messages(&mut self) -> bool {
        for message in self.inbox.take() {
            match message {
                Message::Add { number, socket, kind, standing } => {
                    self.add(number, socket, &kind, standing);
                }
                Message::Reply { number, bytes, session } => self.reply(number, &bytes, session),
                Message::Drop { number, problem } => {
                    if let Some(connection) = self.connections.remove(&number) {
                        self.end(connection, Some(problem));
                    }
                }
                Message::Stop => return false,
            }
        }
        true
    }

    fn add(&mut self, number: u64, socket: OwnedFd, kind: &Kind, standing: Arc<Standing>) {
        let protocol = match kind {
            Kind::Control(account) => ControlConnection::new(account).map(|connection| {
                Protocol::Control { connection, is_waiting: false, session: None }
            }),
            Kind::Data => Ok(Protocol::Data(DataConnection::default())),
        };
        let added = protocol.and_then(|protocol| {
            self.poll.add(&socket, number, READABLE)?;
            Ok(Connection { number, standing, socket, protocol, interest: READABLE })
        });
        match added {
            Ok(connection) => drop(self.connections.insert(number, connection)),
            Err(error) => self.tell_end(number, Some(error.to_string())),
        }
    }

    fn tell_end(&self, connection: u64, problem: Option<String>) {
        self.events.tell(Event::Closed { connection, problem });
    }

    fn reply(&mut self, number: u64, bytes: &[u8], new_session: Option<u64>) {
        let Some(mut connection) = self.connections.remove(&number) else { return };
        if let Protocol::Control { connection: control, is_waiting, session } =
            &mut connection.protocol
        {
            *is_waiting = false;
            if let Some(new) = new_session {
                *session = Some(new);
                control.set_session(new);
                self.store.begin_session(new, Arc::clone(control.account()));
                connection.standing.set_session();
            }
            control.output.extend(bytes);
        }
        self.turn(connection, |worker, connection| worker.answer(connection));
    }

    fn go_on(&mut self, number: u64) {
        let Some(connection) = self.connections.remove(&number) else { return };
        self.turn(connection, Self::read);
    }

    fn turn(
        &mut self,
        mut connection: Connection,
        step: impl FnOnce(&mut Self, &mut Connection) -> Result<(), End>,
    ) {
        match step(self, &mut connection).and_then(|()| self.watch(&mut connection)) {
            Ok(()) => drop(self.connections.insert(connection.number, connection)),
            Err(problem) => self.end(connection, problem),
        }
    }

    fn end(&self, mut connection: Connection, problem: Option<String>) {
        match &mut connection.protocol {
            Protocol::Data(data) => data.end(&self.store),
            Protocol::Control { session, .. } => {
                session.take().iter().for_each(|session| self.store.end_session(*session));
            }
        }
        self.tell_end(connection.number, problem);
    }

    /// Waits for what the connection can use now.
    fn watch(&self, connection: &mut Connection) -> Result<(), End> {
        let wanted = match &connection.protocol {
            Protocol::Control { connection, .. } if !connection.output.is_empty() => WRITABLE,
            Protocol::Control { is_waiting: true, .. } => 0,
            _ => READABLE,
        };
        if wanted != connection.interest {
            connection.interest = wanted;
            let changed = self.poll.change(&connection.socket, connection.number, wanted);
            changed.map_err(|error| Some(error.to_string()))?;
        }
        Ok(())
    }

    fn read(&mut self, connection: &mut Connection) -> Result<(), End> {
        for _ in 0..READS {
            if let Protocol::Control { connection: control, is_waiting, .. } = &connection.protocol
            {
                if !control.output.is_empty() {
                    return self.answer(connection);
                }
                if *is_waiting {
                    // Only its end is told now.
                    return Err(None);
                }
            }
            let count = match receive(&connection.socket, &mut self.buffer) {
                Ok(0) => return Err(None),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Some(error.to_string())),
            };
            let bytes = self.buffer.get(..count).unwrap_or_default();
            match &mut connection.protocol {
                Protocol::Data(data) => {
                    self.pace.note_bytes(count);
                    data.feed(&self.store, bytes).map_err(Some)?;
                    if data.session().is_some() {
                        connection.standing.set_session();
                    }
                }
                Protocol::Control { connection: control, .. } => {
                    let before = control.commands;
                    control.feed(bytes).map_err(|error| Some(error.to_string()))?;
                    self.answer(connection)?;
                    if let Protocol::Control { connection: control, .. } = &connection.protocol {
                        self.pace.note_commands(control.commands - before);
                    }
                }
            }
            if count < self.buffer.len() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Answers commands, and sends the replies.
    fn answer(&self, connection: &mut Connection) -> Result<(), End> {
        let Protocol::Control { connection: control, is_waiting, .. } = &mut connection.protocol
        else {
            return Ok(());
        };
        loop {
            while !control.output.is_empty() {
                match send(&connection.socket, &control.output) {
                    Ok(count) => control.sent(count),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(Some(error.to_string())),
                }
            }
            if *is_waiting {
                return Ok(());
            }
            let decision = control.run(&self.store).map_err(|problem| {
                // What came before is answered, as far as there is room.
                let _ = send(&connection.socket, &control.output);
                Some(problem)
            })?;
            if let Some(decision) = decision {
                *is_waiting = true;
                let (connection, minor) = (connection.number, control.minor().unwrap_or(0));
                self.events.tell(Event::Asked { connection, minor, decision });
            } else if control.output.is_empty() {
                return Ok(());
            }
        }
    }
}
