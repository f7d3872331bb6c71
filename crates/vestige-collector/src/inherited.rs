//! A socket that programs inherit, for those in a network namespace of their own: abstract names
//! are other ones there.
//!
//! A program makes a pair of connected sockets, sends one of them, and goes on with the other as
//! with a connection to the named socket. The kernel says who has made the pair.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::sys;

/// Connections that the server has not taken yet.
const MOST_UNTAKEN: usize = 64;
/// When there is no descriptor for a connection.
const PAUSE: Duration = Duration::from_millis(10);

/// Both ends: ours, where connections come, and the one that programs inherit.
#[derive(Clone)]
pub struct Inherited {
    ours: Arc<UnixDatagram>,
    theirs: Option<Arc<UnixDatagram>>,
    /// Whether the kernel has said that the other end leads elsewhere by now.
    was_reset: Arc<AtomicBool>,
}

impl Inherited {
    /// A new pair.
    pub fn new() -> io::Result<Self> {
        let (ours, theirs) = UnixDatagram::pair()?;
        Ok(Self { theirs: Some(Arc::new(theirs)), ..Self::of(ours) })
    }

    /// That of a collector before, of which only our end is left.
    pub fn of(ours: UnixDatagram) -> Self {
        Self { ours: Arc::new(ours), theirs: None, was_reset: Arc::default() }
    }

    /// Our end.
    pub fn ours(&self) -> &UnixDatagram {
        &self.ours
    }

    /// Whether a program has shut it down, or connected it elsewhere: what begins later gets
    /// nowhere. All programs have the same end, and any of them can do so.
    pub fn is_cut(&self) -> bool {
        self.was_reset.load(Ordering::Relaxed)
            || self.theirs.as_ref().is_some_and(|theirs| !sys::can_send(theirs))
    }

    /// The end for programs.
    pub fn theirs(&self) -> Option<&UnixDatagram> {
        self.theirs.as_deref()
    }
}

/// Gives the server what comes over the socket that programs have inherited.
pub struct Entrance {
    connections: Receiver<UnixStream>,
    bell: UnixStream,
}

impl Entrance {
    /// Begins to take connections, until there is something to read at `end`.
    ///
    /// A thread of its own does so, for which nobody waits: to close what a program sends, such
    /// as a file of a file system that it runs itself, may take for ever.
    pub fn open(inherited: &Inherited, end: &UnixStream) -> io::Result<Self> {
        let (bell, rings) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let (give, connections) = sync_channel(MOST_UNTAKEN);
        let (inherited, end) = (inherited.clone(), end.try_clone()?);
        let work = move || take_all(&inherited, &end, &give, &rings);
        let name = String::from("vestige-inherit");
        sys::without_signals(|| thread::Builder::new().name(name).spawn(work))?;
        Ok(Self { connections, bell })
    }

    /// Readable when a connection came.
    pub const fn bell(&self) -> &UnixStream {
        &self.bell
    }

    /// The connections that came.
    pub fn take(&self) -> impl Iterator<Item = UnixStream> + '_ {
        let mut rings = [0; MOST_UNTAKEN];
        // Before they are looked at: one that comes meanwhile rings again.
        let _ = io::Read::read(&mut &self.bell, &mut rings);
        self.connections.try_iter()
    }
}

fn take_all(
    inherited: &Inherited,
    end: &UnixStream,
    give: &SyncSender<UnixStream>,
    mut bell: &UnixStream,
) {
    let ours = &inherited.ours;
    while !sys::poll(&[end.as_fd(), ours.as_fd()], None) {
        match sys::receive_connection(ours) {
            Ok(Some(connection)) => {
                if give.send(connection).is_err() {
                    return;
                }
                // Who has not heard the rings before need not hear this one.
                let _ = io::Write::write(&mut bell, b".");
            }
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                inherited.was_reset.store(true, Ordering::Relaxed);
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}
