//! System calls that the standard library does not have, without judgement.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What an epoll instance tells of one descriptor.
pub use libc::epoll_event as PollEvent;

/// There is something to read, or nothing more will come.
pub const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
/// There is room.
pub const WRITABLE: u32 = libc::EPOLLOUT as u32;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn counted(result: isize) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

fn c_name(name: &Path) -> io::Result<CString> {
    CString::new(name.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// The directory that a name has before its last part: opened, if it is no symbolic link.
fn inner(directory: &File, name: &Path) -> io::Result<Option<File>> {
    match name.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => open_at(directory, parent, libc::O_RDONLY | libc::O_DIRECTORY).map(Some),
        None => Ok(None),
    }
}

fn last_part(name: &Path) -> &Path {
    name.file_name().map_or(name, Path::new)
}

/// Opens a file of a directory; symbolic links are refused. One that is made may be read and
/// written by its owner and group.
///
/// # Errors
///
/// It cannot be opened.
pub fn open_at(directory: &File, name: &Path, flags: libc::c_int) -> io::Result<File> {
    let below = inner(directory, name)?;
    let directory = below.as_ref().unwrap_or(directory);
    let name = c_name(last_part(name))?;
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let mode: libc::c_uint = 0o660;
    // SAFETY: the name ends in a zero; the descriptor is new, and ours.
    unsafe {
        let file = checked(libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, mode))?;
        Ok(File::from_raw_fd(file))
    }
}

/// Makes a directory, if it is not there.
///
/// # Errors
///
/// It cannot be made.
pub fn make_directory_at(directory: &File, name: &Path) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: the name ends in a zero.
    match checked(unsafe { libc::mkdirat(directory.as_raw_fd(), name.as_ptr(), 0o770) }) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file of a directory.
///
/// # Errors
///
/// It cannot be removed.
pub fn unlink_at(directory: &File, name: &Path) -> io::Result<()> {
    let below = inner(directory, name)?;
    let directory = below.as_ref().unwrap_or(directory);
    let name = c_name(last_part(name))?;
    // SAFETY: the name ends in a zero.
    checked(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
}

/// Keeps space on the disk for the first bytes of a file, which stays as long as it is. Not all
/// kinds of file systems can.
pub fn reserve(file: &File, bytes: u64) {
    let bytes = libc::off_t::try_from(bytes).unwrap_or(libc::off_t::MAX);
    // SAFETY: it has nothing but numbers.
    unsafe { libc::fallocate(file.as_raw_fd(), libc::FALLOC_FL_KEEP_SIZE, 0, bytes) };
}

/// Takes a descriptor over, as a socket that never blocks.
///
/// # Errors
///
/// It is none.
pub fn take_socket(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: whoever gives a descriptor away uses it no more; one that is none is refused below.
    let flags = checked(unsafe { libc::fcntl(descriptor, libc::F_GETFL) })?;
    // SAFETY: as above.
    checked(unsafe { libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Receives what is there; 0 at the end.
///
/// # Errors
///
/// There is nothing now, or the connection is broken.
pub fn receive(socket: &OwnedFd, buffer: &mut [u8]) -> io::Result<usize> {
    let place = buffer.as_mut_ptr().cast();
    // SAFETY: the buffer is as long as it says.
    counted(unsafe { libc::recv(socket.as_raw_fd(), place, buffer.len(), libc::MSG_DONTWAIT) })
}

/// Sends as much as there is room for.
///
/// # Errors
///
/// There is none, or the connection is broken.
pub fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the bytes are as many as they say.
    counted(unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) })
}

/// A counter that wakes whoever waits for it.
#[derive(Debug)]
pub struct Wake {
    file: OwnedFd,
}

impl Wake {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the descriptor is new, and ours.
        let file = unsafe {
            let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
            OwnedFd::from_raw_fd(checked(libc::eventfd(0, flags))?)
        };
        Ok(Self { file })
    }

    /// Wakes.
    pub fn wake(&self) {
        let one = 1_u64.to_ne_bytes();
        // SAFETY: the bytes are as many as they say. A counter that is full wakes as well.
        unsafe { libc::write(self.file.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Waits for the next one.
    pub fn clear(&self) {
        let mut count = [0_u8; 8];
        // SAFETY: the place is as large as it says.
        unsafe { libc::read(self.file.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

impl AsRawFd for Wake {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Descriptors that are waited for.
#[derive(Debug)]
pub struct Poll {
    file: OwnedFd,
}

impl Poll {
    /// Waits for none yet.
    ///
    /// # Errors
    ///
    /// There are no descriptors left.
    pub fn new() -> io::Result<Self> {
        // SAFETY: the descriptor is new, and ours.
        let file =
            unsafe { OwnedFd::from_raw_fd(checked(libc::epoll_create1(libc::EPOLL_CLOEXEC))?) };
        Ok(Self { file })
    }

    fn control(&self, verb: libc::c_int, file: RawFd, event: &mut PollEvent) -> io::Result<()> {
        // SAFETY: the event is there as long as the call takes.
        checked(unsafe { libc::epoll_ctl(self.file.as_raw_fd(), verb, file, event) }).map(drop)
    }

    /// Waits for one more.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn add(&self, file: &impl AsRawFd, key: u64, events: u32) -> io::Result<()> {
        let mut event = PollEvent { events, u64: key };
        self.control(libc::EPOLL_CTL_ADD, file.as_raw_fd(), &mut event)
    }

    /// Waits for something else of one.
    ///
    /// # Errors
    ///
    /// It is none.
    pub fn change(&self, file: &impl AsRawFd, key: u64, events: u32) -> io::Result<()> {
        let mut event = PollEvent { events, u64: key };
        self.control(libc::EPOLL_CTL_MOD, file.as_raw_fd(), &mut event)
    }

    /// Waits, and gives the keys of those of which there is something.
    ///
    /// # Errors
    ///
    /// The system refuses.
    pub fn wait(&self, events: &mut [PollEvent]) -> io::Result<Vec<u64>> {
        let most = libc::c_int::try_from(events.len()).unwrap_or(libc::c_int::MAX);
        let file = self.file.as_raw_fd();
        // SAFETY: the events are as many as they say.
        let count = checked(unsafe { libc::epoll_wait(file, events.as_mut_ptr(), most, -1) });
        let count = match count {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            other => usize::try_from(other?).unwrap_or_default(),
        };
        Ok(events.iter().take(count).map(|event| event.u64).collect())
    }
}
