//! What programs ask of the recorder, over the socket where they could ask for an arena: plans of
//! objects that nobody foresaw.
//!
//! The recorder decides; here requests wait until it looks. It is told by a bell that it can poll
//! with other files, since it has no thread to spare. What it does not answer is closed, which
//! programs take for an answer, too.

use std::collections::VecDeque;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::mem::offset_of;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::agreement::{PlanRequest, PLAN_NOTHING, PLAN_OF_PROGRAM, PLAN_REFUSED};
use crate::sys::{self, Peer};

/// Bytes of a request.
pub const REQUEST_BYTES: usize = size_of::<PlanRequest>();
/// Requests that nobody has looked at; what comes then is closed.
const MOST_WAITING: usize = 256;

/// A program that waits for a plan, or tells that it left an object alone.
pub struct Request {
    peer: Peer,
    flags: u32,
    build_id: Vec<u8>,
    path: Vec<u8>,
    connection: UnixStream,
}

impl Request {
    /// Takes what a program has said; none if it makes no sense, or is not all of a request.
    pub fn new(connection: UnixStream, peer: Peer, said: &[u8]) -> Option<Self> {
        if said.len() != REQUEST_BYTES {
            return None;
        }
        let flags = number(said, offset_of!(PlanRequest, flags))?;
        let size = number(said, offset_of!(PlanRequest, build_id_size))? as usize;
        let id = said.get(offset_of!(PlanRequest, build_id)..offset_of!(PlanRequest, path))?;
        let path = said.get(offset_of!(PlanRequest, path)..)?;
        let end = path.iter().position(|byte| *byte == 0)?;
        Some(Self {
            peer,
            flags,
            build_id: id.get(..size)?.to_vec(),
            path: path.get(..end)?.to_vec(),
            connection,
        })
    }

    /// Who asks, as the kernel says.
    pub const fn peer(&self) -> Peer {
        self.peer
    }

    /// Whether the object is the program itself.
    pub const fn is_of_program(&self) -> bool {
        self.flags & PLAN_OF_PROGRAM != 0
    }

    /// Whether nothing is asked: the text says which object was left alone, and why.
    pub const fn is_refusal(&self) -> bool {
        self.flags & PLAN_REFUSED != 0
    }

    /// The build ID of the object.
    pub fn build_id(&self) -> &[u8] {
        &self.build_id
    }

    /// Its path, as the program sees it, or the text.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Gives a file. An error means that the program does not wait any more.
    pub fn give(&self, path: &Path) -> io::Result<()> {
        let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        sys::send_file(&self.connection, &file)
    }

    /// Says that there is nothing to do.
    pub fn decline(&self) -> io::Result<()> {
        sys::say(&self.connection, PLAN_NOTHING.as_bytes())
    }
}

fn number(said: &[u8], at: usize) -> Option<u32> {
    let bytes = said.get(at..at.checked_add(size_of::<u32>())?)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// Requests that wait for the recorder.
pub struct Requests {
    waiting: Mutex<VecDeque<Request>>,
    bell: UnixStream,
    rings: UnixStream,
}

impl Requests {
    /// A place for them.
    pub fn new() -> io::Result<Self> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        Ok(Self { waiting: Mutex::default(), bell, rings })
    }

    /// Readable when a request has come.
    pub fn bell(&self) -> RawFd {
        self.bell.as_raw_fd()
    }

    /// Leaves one for the recorder.
    pub fn add(&self, request: Request) {
        let mut waiting = self.lock();
        if waiting.len() < MOST_WAITING {
            waiting.push_back(request);
            // Who has not heard the rings before need not hear this one.
            let _ = (&self.rings).write(b".");
        }
    }

    /// Takes the next one.
    pub fn take(&self) -> Option<Request> {
        let mut rings = [0; MOST_WAITING];
        // Before it is looked: one that comes meanwhile rings again.
        let _ = (&self.bell).read(&mut rings);
        let mut waiting = self.lock();
        let first = waiting.pop_front();
        if !waiting.is_empty() {
            let _ = (&self.rings).write(b".");
        }
        first
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Request>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(build_id_size: u32, path: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; REQUEST_BYTES];
        let mut put = |at: usize, value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
        };
        put(offset_of!(PlanRequest, flags), &PLAN_OF_PROGRAM.to_ne_bytes());
        put(offset_of!(PlanRequest, build_id_size), &build_id_size.to_ne_bytes());
        put(offset_of!(PlanRequest, build_id), b"id");
        put(offset_of!(PlanRequest, path), path);
        bytes
    }

    fn request(said: &[u8]) -> Option<(Request, UnixStream)> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let peer = sys::peer(&ours).unwrap();
        Request::new(ours, peer, said).map(|request| (request, theirs))
    }

    #[test]
    fn what_a_program_says_is_read() {
        let (request, mut program) = request(&said(2, b"/bin/x")).unwrap();
        assert_eq!((request.build_id(), request.path()), (&b"id"[..], &b"/bin/x"[..]));
        assert!(request.is_of_program() && !request.is_refusal());
        request.decline().unwrap();
        drop(request);
        let mut answer = Vec::new();
        program.read_to_end(&mut answer).unwrap();
        assert_eq!(answer, PLAN_NOTHING.as_bytes());
    }

    #[test]
    fn what_makes_no_sense_is_no_request() {
        assert!(request(&said(65, b"/bin/x")).is_none());
        assert!(request(&said(2, &[b'x'; 4008])).is_none());
        assert!(request(&said(2, b"/bin/x")[..4000]).is_none());
    }

    #[test]
    fn requests_wait_in_order_and_ring() {
        let requests = Requests::new().unwrap();
        assert!(requests.take().is_none());
        for name in [b"/a", b"/b"] {
            requests.add(request(&said(2, name)).unwrap().0);
        }
        let mut ring = [0; 8];
        assert_eq!((&requests.bell).read(&mut ring[..1]).unwrap(), 1);
        assert_eq!(requests.take().unwrap().path(), b"/a");
        assert_eq!((&requests.bell).read(&mut ring).unwrap(), 1);
        assert_eq!(requests.take().unwrap().path(), b"/b");
        assert!((&requests.bell).read(&mut ring).is_err());
    }
}
