//! The socket where programs get their arena that cannot open it by its path.
//!
//! It has a name in the abstract namespace, which no root directory and no rights of files
//! hide. Anybody can see the name and connect. So a program says a token that only programs of
//! the recording have, and the kernel says who it is: it gets the arena of its user. Who says the
//! token the other way asks for something else, see `requests`.

use std::hint::black_box;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::arenas::Arenas;
use crate::inherited::Entrance;
use crate::requests::{Request, Requests, REQUEST_BYTES};
use crate::sys::{self, Peer};
use crate::watch;

const TOKEN_BYTES: usize = 16;
/// How long a program may take to say its token; it does so at once.
const PATIENCE: Duration = Duration::from_secs(1);
/// Connections that wait for a token; who has waited longest goes when there are more.
const MOST_WAITING: usize = 64;
/// When there is no descriptor for a connection.
const PAUSE: Duration = Duration::from_millis(10);

/// Where programs ask, and what they have to say.
#[derive(Clone, Copy)]
pub struct Secret([u8; 32]);

impl Secret {
    /// One that nobody can guess.
    pub fn new() -> io::Result<Self> {
        let mut bytes = [0; 32];
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&sys::random()?.to_ne_bytes());
        }
        Ok(Self(bytes))
    }

    /// That of a collector before.
    pub const fn of(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes, to keep them.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The name of the socket, without the zero before it.
    pub fn name(&self) -> String {
        let (name, _) = self.0.split_at(TOKEN_BYTES);
        format!("vestige-{}", digits(name))
    }

    fn token(&self) -> &[u8] {
        self.0.split_at(TOKEN_BYTES).1
    }

    /// The token in hexadecimal digits.
    pub fn token_text(&self) -> String {
        digits(self.token())
    }

    fn is_token(&self, said: &[u8]) -> bool {
        self.differs(said, 0) == 0
    }

    /// Whether the first bytes are those of a request.
    fn is_of_request(&self, said: &[u8]) -> bool {
        self.differs(said, u8::MAX) == 0
    }

    /// Takes the same time wherever the first difference is.
    fn differs(&self, said: &[u8], mask: u8) -> u8 {
        let missing = u8::from(said.len() < TOKEN_BYTES);
        let pairs = self.token().iter().zip(said);
        pairs.fold(missing, |sum, (ours, theirs)| black_box(sum | (ours ^ theirs ^ mask)))
    }
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A program that has connected.
struct Waiting {
    connection: UnixStream,
    peer: Peer,
    until: Instant,
    said: Vec<u8>,
    /// How many bytes it is to say.
    wanted: usize,
}

/// How far a program is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Waits,
    HasSaid,
    IsGone,
}

impl Waiting {
    fn new(connection: UnixStream) -> io::Result<Self> {
        connection.set_nonblocking(true)?;
        let peer = sys::peer(&connection)?;
        let until = Instant::now() + PATIENCE;
        let said = Vec::with_capacity(TOKEN_BYTES);
        Ok(Self { connection, peer, until, said, wanted: TOKEN_BYTES })
    }

    fn listen(&mut self, secret: &Secret) -> Step {
        let mut bytes = [0; REQUEST_BYTES];
        loop {
            let (rest, _) = bytes.split_at_mut(self.wanted - self.said.len());
            match self.connection.read(rest) {
                Ok(0) => return Step::IsGone,
                Ok(count) => self.said.extend(rest.iter().take(count)),
                Err(error) if is_later(&error) => break,
                Err(_) => return Step::IsGone,
            }
            if self.said.len() < self.wanted {
                continue;
            }
            if self.wanted == TOKEN_BYTES && secret.is_of_request(&self.said) {
                self.wanted = REQUEST_BYTES;
                continue;
            }
            break;
        }
        if self.said.len() == self.wanted {
            Step::HasSaid
        } else if Instant::now() >= self.until {
            Step::IsGone
        } else {
            Step::Waits
        }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// A socket, from when its name is known.
pub struct Server {
    listener: UnixListener,
    secret: Secret,
    /// Where requests go, if somebody answers them.
    requests: Option<Arc<Requests>>,
    /// Whether those get an answer who ask how far the recording is.
    is_watched: bool,
}

impl Server {
    /// Programs may connect when it returns.
    pub fn new(secret: Secret) -> io::Result<Self> {
        let address = SocketAddr::from_abstract_name(secret.name())?;
        let listener = UnixListener::bind_addr(&address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, secret, requests: None, is_watched: false })
    }

    /// Leaves requests for somebody who answers them.
    pub fn set_requests(&mut self, requests: Arc<Requests>) {
        self.requests = Some(requests);
    }

    /// Answers those who ask how far the recording is, too.
    pub const fn let_watch(&mut self) {
        self.is_watched = true;
    }

    /// Answers until there is something to read at `end`.
    pub fn run(&self, arenas: &Arenas, entrance: Option<&Entrance>, end: &UnixStream) {
        let mut waiting: Vec<Waiting> = Vec::new();
        while !self.wait(&waiting, entrance, end) {
            self.accept(&mut waiting);
            let others = entrance.into_iter().flat_map(Entrance::take);
            waiting.extend(others.filter_map(|one| Waiting::new(one).ok()));
            let mut at = 0;
            while let Some(one) = waiting.get_mut(at) {
                match one.listen(&self.secret) {
                    Step::Waits => at += 1,
                    Step::IsGone => drop(waiting.remove(at)),
                    Step::HasSaid => self.answer(arenas, waiting.remove(at)),
                }
            }
            // They have said nothing, though all that say something do so at once.
            let surplus = waiting.len().saturating_sub(MOST_WAITING);
            waiting.drain(..surplus);
        }
    }

    fn answer(&self, arenas: &Arenas, one: Waiting) {
        if one.said.len() == REQUEST_BYTES {
            let Some(requests) = &self.requests else { return };
            if let Some(request) = Request::new(one.connection, one.peer, &one.said) {
                requests.add(request);
            }
        } else if self.secret.is_token(&one.said) {
            answer(arenas, &one);
        } else if self.is_watched && one.said == watch::QUESTION && watch::is_allowed(one.peer) {
            // Who has gone meanwhile wants to know nothing.
            let _ = watch::answer(arenas, &one.connection);
        }
    }

    /// Waits for something to do; whether that is to end.
    fn wait(&self, waiting: &[Waiting], entrance: Option<&Entrance>, end: &UnixStream) -> bool {
        let mut files: Vec<BorrowedFd<'_>> = vec![end.as_fd(), self.listener.as_fd()];
        files.extend(entrance.map(|one| one.bell().as_fd()));
        files.extend(waiting.iter().map(|one| one.connection.as_fd()));
        let until = waiting.iter().map(|one| one.until).min();
        let time = until.map(|until| until.saturating_duration_since(Instant::now()));
        sys::poll(&files, time)
    }

    fn accept(&self, waiting: &mut Vec<Waiting>) {
        for _ in 0..MOST_WAITING {
            match self.listener.accept() {
                Ok((connection, _)) => waiting.extend(Waiting::new(connection)),
                Err(error) if is_later(&error) => break,
                Err(_) => {
                    thread::sleep(PAUSE);
                    break;
                }
            }
        }
    }
}

fn answer(arenas: &Arenas, one: &Waiting) {
    let given = arenas.of_user(one.peer.user).and_then(|recording| {
        let file = sys::open_again(recording.arena.file())?;
        sys::send_file(&one.connection, &file)
    });
    if let Err(error) = given {
        let Peer { process, user } = one.peer;
        arenas
            .trace
            .add_problem(format!("process {process} of user {user} cannot be recorded: {error}"));
    }
}

/// Serves, if there is a socket, and holds the lives of the arenas of other users until the
/// end: the kernel marks them when this thread ends.
pub fn serve(
    server: Option<&Server>,
    arenas: &Arc<Arenas>,
    entrance: Option<&Entrance>,
    end: &UnixStream,
) {
    match server {
        Some(server) => server.run(arenas, entrance, end),
        None => while !sys::poll(&[end.as_fd()], None) {},
    }
}
