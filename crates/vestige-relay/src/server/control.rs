//! A connection on which commands come. What needs no judgement is answered here.

use std::io;
use std::sync::Arc;

use crate::control::{code, status, version, Command, Header, HEADER_BYTES, MAJOR, MINOR};
use crate::events::Decision;
use crate::memory::{Account, Share};
use crate::store::Store;

/// No command that comes before its session is longer: it has three names and some numbers.
const LARGEST_FIRST: usize = 16 << 10;
/// Memory that a connection keeps for commands, and for replies.
const KEPT_BYTES: usize = 16 << 10;
/// Replies that wait to be sent before more commands are answered.
const MOST_OUTPUT: usize = 64 << 10;

/// Streams of other sessions, and those that have ended, are none.
const NO_STREAM: u32 = u32::MAX;

/// What has come of the next command, and what is to be sent.
#[derive(Debug)]
pub struct ControlConnection {
    account: Arc<Account>,
    share: Share,
    input: Vec<u8>,
    /// Bytes of it that need not be looked at any more.
    done: usize,
    /// Replies that have not been sent.
    pub output: Vec<u8>,
    /// Commands that have come.
    pub commands: u64,
    minor: Option<u32>,
    session: Option<u64>,
}

/// What comes of a command.
enum Outcome {
    /// It is answered with these bytes, or with none.
    Reply(Vec<u8>),
    /// Others decide.
    Ask(Decision),
}

fn done(is_done: bool) -> Outcome {
    Outcome::Reply(status(if is_done { code::OK } else { code::UNKNOWN }).to_vec())
}

impl ControlConnection {
    /// Has received nothing yet.
    ///
    /// # Errors
    ///
    /// There is no memory left for its peer.
    pub fn new(account: &Arc<Account>) -> io::Result<Self> {
        Ok(Self {
            account: Arc::clone(account),
            share: account.take(2 * KEPT_BYTES)?,
            input: Vec::new(),
            done: 0,
            output: Vec::new(),
            commands: 0,
            minor: None,
            session: None,
        })
    }

    /// Takes bytes in the order in which they came.
    ///
    /// # Errors
    ///
    /// There is no memory left for its peer.
    pub fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        // As a vector grows.
        let needed = (self.input.len() + bytes.len()).max(KEPT_BYTES);
        let capacity = needed.max(self.input.capacity().saturating_mul(2).min(2 * needed));
        self.share.hold(KEPT_BYTES + capacity)?;
        self.input.extend(bytes);
        Ok(())
    }

    /// The memory of its peer.
    pub fn account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Replies were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.output.drain(..bytes);
        if self.output.is_empty() {
            self.output.shrink_to(KEPT_BYTES);
        }
    }

    /// Which protocol is spoken, once it is known.
    pub fn minor(&self) -> Option<u32> {
        self.minor
    }

    /// The session that was created for it.
    pub fn set_session(&mut self, session: u64) {
        self.session = Some(session);
    }

    /// Answers commands until one needs a decision, none is complete, or replies are to be sent
    /// first.
    ///
    /// # Errors
    ///
    /// They make no sense: nothing more may come.
    pub fn run(&mut self, store: &Store) -> Result<Option<Decision>, String> {
        let input = std::mem::take(&mut self.input);
        let mut rest = input.get(self.done..).unwrap_or_default();
        let decision = self.run_all(store, &mut rest);
        self.done = input.len() - rest.len();
        self.input = input;
        if self.done > self.input.len() / 2 {
            // Not for each command: there may be very many.
            self.input.drain(..self.done);
            self.input.shrink_to(KEPT_BYTES);
            self.done = 0;
            // Giving back is never refused.
            let _ = self.share.hold(KEPT_BYTES + self.input.capacity().max(KEPT_BYTES));
        }
        decision
    }

    fn run_all(&mut self, store: &Store, rest: &mut &[u8]) -> Result<Option<Decision>, String> {
        while let Some(head) = rest.get(..HEADER_BYTES).filter(|_| self.output.len() < MOST_OUTPUT)
        {
            let header = Header::decode(head).map_err(|error| error.to_string())?;
            if self.session.is_none() && header.bytes > LARGEST_FIRST {
                return Err("a command before the session is longer than any may be".to_owned());
            }
            let all = HEADER_BYTES + header.bytes;
            let Some(payload) = rest.get(HEADER_BYTES..all) else { return Ok(None) };
            *rest = rest.get(all..).unwrap_or_default();
            self.commands += 1;
            match self.command(store, &header, payload)? {
                Outcome::Reply(reply) => self.output.extend(reply),
                Outcome::Ask(decision) => return Ok(Some(decision)),
            }
        }
        Ok(None)
    }

    fn command(
        &mut self,
        store: &Store,
        header: &Header,
        payload: &[u8],
    ) -> Result<Outcome, String> {
        let minor = self.minor.unwrap_or(0);
        let command = Command::decode(header.command, minor, payload);
        let command = command.map_err(|error| error.to_string())?;
        match command {
            Command::Version { major, minor } => return self.agree(major, minor),
            Command::Unknown(_) => return Ok(done(false)),
            _ if self.minor.is_none() => {
                return Err("a command came before the version of the protocol".to_owned())
            }
            Command::Configuration { flags } => {
                return Ok(Outcome::Ask(Decision::Configuration { flags }))
            }
            Command::CreateSession(session) if self.session.is_none() => {
                return Ok(Outcome::Ask(Decision::CreateSession(session)))
            }
            Command::CreateSession(_) => {
                return Err("a connection creates two sessions".to_owned());
            }
            Command::StartData => return Ok(done(true)),
            _ => {}
        }
        let Some(session) = self.session else {
            return Err("a command came before its session".to_owned());
        };
        of_session(store, session, command)
    }

    fn agree(&mut self, major: u32, minor: u32) -> Result<Outcome, String> {
        if major != MAJOR {
            // It can say which one it would need.
            self.output.extend(version(MAJOR, MINOR));
            return Err(format!("the peer speaks version {major}.{minor} of the protocol"));
        }
        if self.minor.is_some_and(|before| before != minor.min(MINOR)) {
            return Err("a connection speaks two versions of the protocol".to_owned());
        }
        self.minor = Some(minor.min(MINOR));
        Ok(Outcome::Reply(version(MAJOR, MINOR)))
    }
}

/// Answers a command of a session.
fn of_session(store: &Store, session: u64, command: Command<'_>) -> Result<Outcome, String> {
    Ok(match command {
        Command::AddStream(stream) => Outcome::Ask(Decision::AddStream(stream)),
        Command::StreamsSent => Outcome::Ask(Decision::StreamsSent),
        Command::RotateStreams(rotation) => Outcome::Ask(Decision::RotateStreams(rotation)),
        Command::CreateChunk { chunk, time, name } => {
            Outcome::Ask(Decision::CreateChunk { chunk, time, name })
        }
        Command::CloseChunk { chunk, time, action } => {
            Outcome::Ask(Decision::CloseChunk { chunk, time, action })
        }
        Command::ChunkExists { chunk } => Outcome::Ask(Decision::ChunkExists { chunk }),
        Command::Metadata { stream, padding, payload } => {
            let stream = store.get_of(stream, session);
            let stream = stream.ok_or("metadata came for a stream that is not there")?;
            let added = stream.add_metadata(payload, padding);
            added.map_err(|error| stream.says(&error))?;
            Outcome::Reply(Vec::new())
        }
        Command::CloseStream { stream, last } => match store.get_of(stream, session) {
            Some(stream) => {
                store.close(&stream, Some(last));
                done(true)
            }
            None => done(false),
        },
        Command::Index { stream, sequence, packet } => match store.get_of(stream, session) {
            Some(stream) => {
                let added = stream.add_index(sequence, packet);
                added.map_err(|error| stream.says(&error))?;
                done(true)
            }
            None => done(false),
        },
        Command::ResetMetadata { stream } => {
            let stream = store.get_of(stream, session);
            done(stream.is_some_and(|stream| stream.reset_metadata().is_ok()))
        }
        other => questions(store, session, &other),
    })
}

/// Answers whether all has come.
fn questions(store: &Store, session: u64, command: &Command<'_>) -> Outcome {
    match *command {
        Command::DataPending { stream, last } => {
            let stream = store.get_of(stream, session);
            let is_pending = stream.map(|stream| u32::from(stream.is_pending(last)));
            Outcome::Reply(status(is_pending.unwrap_or(NO_STREAM)).to_vec())
        }
        Command::Quiescent { stream } => {
            if let Some(stream) = store.get_of(stream, session) {
                stream.set_checked(true);
            }
            done(true)
        }
        Command::BeginDataPending { .. } => {
            for stream in store.of_session(session) {
                stream.set_checked(false);
            }
            done(true)
        }
        Command::EndDataPending { .. } => {
            let streams = store.of_session(session);
            let is_in_flight = streams.iter().any(|stream| stream.is_in_flight());
            Outcome::Reply(status(u32::from(is_in_flight)).to_vec())
        }
        _ => done(false),
    }
}
