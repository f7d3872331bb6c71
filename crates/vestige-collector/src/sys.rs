//! System calls that the standard library does not have, without judgement.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::time::Duration;
use std::{mem, ptr, thread};

use crate::mapping::Mapping;

/// As `linux/magic.h` has it.
const RAMFS_MAGIC: libc::__fsword_t = 0x8584_58f6;
/// Looking at the file takes less than a millisecond.
const LOCK_ATTEMPTS: u32 = 5;
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// Some bytes of an arena.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    pub memory: &'a Mapping,
    pub at: u64,
    pub bytes: u32,
}

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn c_name(name: &str) -> io::Result<CString> {
    CString::new(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Opens a directory; a symbolic link is refused.
pub fn open_directory(path: &Path) -> io::Result<File> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Opens a file of a directory; symbolic links are refused.
pub fn open_at(directory: &File, name: &str, flags: libc::c_int) -> io::Result<File> {
    open_at_with_mode(directory, name, flags, 0o600)
}

/// The same; a file that is made has a mode.
pub fn open_at_with_mode(
    directory: &File,
    name: &str,
    flags: libc::c_int,
    mode: libc::c_uint,
) -> io::Result<File> {
    let name = c_name(name)?;
    let flags = flags | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    // SAFETY: the name ends in a zero; the descriptor is new, and ours.
    unsafe {
        let file = checked(libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, mode))?;
        Ok(File::from_raw_fd(file))
    }
}

/// Removes a file of a directory.
pub fn unlink_at(directory: &File, name: &str) -> io::Result<()> {
    let name = c_name(name)?;
    // SAFETY: the name ends in a zero.
    checked(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), 0) }).map(drop)
}

/// Writes a head, bytes of an arena and a tail, one behind the other; how many were written.
pub fn write_parts(
    file: &File,
    head: &[u8],
    body: Option<Span<'_>>,
    tail: &[u8],
    at: u64,
) -> io::Result<u64> {
    let (place, bytes) = match body {
        Some(span) => {
            let bytes = u64::from(span.bytes);
            let place = span.memory.pointer(span.at, bytes);
            (place.ok_or(io::ErrorKind::InvalidInput)?, bytes as usize)
        }
        None => (ptr::null_mut(), 0),
    };
    let parts = [
        libc::iovec { iov_base: head.as_ptr().cast_mut().cast(), iov_len: head.len() },
        libc::iovec { iov_base: place.cast(), iov_len: bytes },
        libc::iovec { iov_base: tail.as_ptr().cast_mut().cast(), iov_len: tail.len() },
    ];
    let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel only reads the parts; those of the arena are inside of it, and pages
    // that are not there any more are an error.
    let written = unsafe { libc::pwritev(file.as_raw_fd(), parts.as_ptr(), 3, at) };
    u64::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Writes bytes of a file that is mapped where another one was written last; how many.
pub fn append(file: &File, span: Span<'_>) -> io::Result<u64> {
    let place = span.memory.pointer(span.at, u64::from(span.bytes));
    let place = place.ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: the kernel only reads them; pages that are not there any more are an error.
    let written = unsafe { libc::write(file.as_raw_fd(), place.cast(), span.bytes as usize) };
    u64::try_from(written).map_err(|_| io::Error::last_os_error())
}

/// Makes a file that nobody else may open, where there is none of that name.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}

/// Gives a part of a file its blocks.
pub fn allocate(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: no memory is passed.
    checked(unsafe { libc::fallocate(file.as_raw_fd(), 0, at, bytes) }).map(drop)
}

/// Takes the blocks of a part of a file away, which keeps its length.
pub fn take_blocks(file: &File, at: u64, bytes: u64) -> io::Result<()> {
    let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    let bytes = libc::off_t::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    let how = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: no memory is passed.
    checked(unsafe { libc::fallocate(file.as_raw_fd(), how, at, bytes) }).map(drop)
}

/// Where the first byte is, from an offset on, that nobody has written: the end of the file if
/// all were.
pub fn first_hole(file: &File, at: u64) -> io::Result<u64> {
    let at = libc::off_t::try_from(at).map_err(|_| io::ErrorKind::InvalidInput)?;
    // SAFETY: no memory is passed; nobody reads or writes where the file stands.
    let found = unsafe { libc::lseek(file.as_raw_fd(), at, libc::SEEK_HOLE) };
    u64::try_from(found).map_err(|_| io::Error::last_os_error())
}

/// Locks a file; an error if another process has it locked.
pub fn lock_file(file: &File) -> io::Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) }).map(drop)
}

/// As `lock_file`, when somebody may look at the file for a moment: see `abandoned.rs`.
pub fn lock_file_soon(file: &File) -> io::Result<()> {
    for _ in 0..LOCK_ATTEMPTS {
        match lock_file(file) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOCK_PAUSE),
            other => return other,
        }
    }
    lock_file(file)
}

/// Unlocks it again.
pub fn unlock_file(file: &File) -> io::Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_UN) }).map(drop)
}

/// Gives a file to a user.
pub fn give_to(file: &File, user: u32) -> io::Result<()> {
    // SAFETY: no memory is passed.
    checked(unsafe { libc::fchown(file.as_raw_fd(), user, libc::gid_t::MAX) }).map(drop)
}

/// The user that files are made as.
pub fn effective_user() -> u32 {
    // SAFETY: it cannot fail.
    unsafe { libc::geteuid() }
}

/// Bytes that a file system has for us; none if it cannot tell.
pub fn free_bytes(file: &File) -> Option<u64> {
    // SAFETY: all zeros are a value of the structure.
    let mut found: libc::statvfs = unsafe { mem::zeroed() };
    // SAFETY: the structure is ours.
    checked(unsafe { libc::fstatvfs(file.as_raw_fd(), &raw mut found) }).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Whether a file is in memory, and goes to no disk.
pub fn is_in_memory(file: &File) -> bool {
    // SAFETY: all zeros are a value of the structure.
    let mut found: libc::statfs = unsafe { mem::zeroed() };
    // SAFETY: the structure is ours.
    let done = checked(unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut found) });
    done.is_ok() && [libc::TMPFS_MAGIC, RAMFS_MAGIC].contains(&found.f_type)
}

/// How many files the process may have open.
pub fn most_open_files() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours.
    let done = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if done == 0 {
        limit.rlim_cur
    } else {
        256
    }
}

/// Bytes that nobody can guess.
pub fn random() -> io::Result<u64> {
    let mut bytes = [0_u8; 8];
    // SAFETY: the memory is ours.
    let done = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if done != 8 {
        return Err(io::Error::last_os_error());
    }
    Ok(u64::from_ne_bytes(bytes))
}

/// Who is at the other end of a connection, as the kernel says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The process ID, 0 if it has none here.
    pub process: u32,
    /// The effective user when it connected.
    pub user: u32,
}

/// Asks who has connected.
pub fn peer(connection: &UnixStream) -> io::Result<Peer> {
    let mut found = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = mem::size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the structure is ours, and as large as it says.
    checked(unsafe {
        libc::getsockopt(
            connection.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut found).cast(),
            &raw mut size,
        )
    })?;
    Ok(Peer { process: found.pid.unsigned_abs(), user: found.uid })
}

/// Opens a file once more: a lock of ours is not one of who gets the new descriptor.
pub fn open_again(file: &File) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().read(true).write(true).open(path)
}

/// Sends a descriptor, with one byte.
pub fn send_file(connection: &UnixStream, file: &File) -> io::Result<()> {
    const ROOM: usize = 64;
    // Aligned as control messages are.
    let mut control = [0_u64; ROOM / 8];
    let mut byte = [b'+'];
    let mut data = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // SAFETY: all zeros are a value of the structure.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut data;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    let size = mem::size_of::<libc::c_int>() as libc::c_uint;
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the control message has room for its head and a descriptor, and all that the
    // message points to lives through the call.
    let sent = unsafe {
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        (*head).cmsg_level = libc::SOL_SOCKET;
        (*head).cmsg_type = libc::SCM_RIGHTS;
        (*head).cmsg_len = libc::CMSG_LEN(size) as _;
        ptr::write_unaligned(libc::CMSG_DATA(head).cast(), file.as_raw_fd());
        libc::sendmsg(connection.as_raw_fd(), &raw const message, flags)
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Sends some bytes to a program that may be gone, without a signal then.
pub fn say(connection: &UnixStream, bytes: &[u8]) -> io::Result<()> {
    let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
    // SAFETY: the kernel reads so many bytes.
    let sent =
        unsafe { libc::send(connection.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Takes a connection out of a message; none if something else was in it.
pub fn receive_connection(socket: &UnixDatagram) -> io::Result<Option<UnixStream>> {
    // Aligned as control messages are.
    let mut control = [0_u64; 8];
    let mut byte = [0_u8];
    let mut data = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: 1 };
    // SAFETY: all zeros are a value of the structure.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut data;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    let size = mem::size_of::<libc::c_int>() as libc::c_uint;
    let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
    // SAFETY: the control message has room for its head and one descriptor; the kernel closes
    // what finds no room. A descriptor that comes is new, and ours.
    let file = unsafe {
        message.msg_controllen = libc::CMSG_LEN(size) as _;
        if libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) < 0 {
            return Err(io::Error::last_os_error());
        }
        let head = libc::CMSG_FIRSTHDR(&raw const message);
        if head.is_null()
            || (*head).cmsg_type != libc::SCM_RIGHTS
            || (*head).cmsg_len < libc::CMSG_LEN(size) as usize
        {
            return Ok(None);
        }
        OwnedFd::from_raw_fd(ptr::read_unaligned(libc::CMSG_DATA(head).cast()))
    };
    let is_connection = option(&file, libc::SO_DOMAIN) == Some(libc::AF_UNIX)
        && option(&file, libc::SO_TYPE) == Some(libc::SOCK_STREAM);
    Ok(is_connection.then(|| UnixStream::from(file)))
}

/// Whether a message can be sent, now or when there is room; an empty one is.
pub fn can_send(socket: &UnixDatagram) -> bool {
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: no memory is passed.
    let sent = unsafe { libc::send(socket.as_raw_fd(), ptr::null(), 0, flags) };
    sent >= 0 || io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock
}

/// A socket by the number of a descriptor, which stays as it is.
pub fn own_socket(descriptor: RawFd) -> io::Result<UnixDatagram> {
    // SAFETY: a number that is no descriptor is an error; the copy is new, and ours.
    unsafe {
        let copy = checked(libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok(UnixDatagram::from_raw_fd(copy))
    }
}

/// A number that the system says of a socket; none if it is no socket.
fn option(file: &OwnedFd, name: libc::c_int) -> Option<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = mem::size_of::<libc::c_int>() as libc::socklen_t;
    let place = (&raw mut value).cast();
    // SAFETY: the number is ours, and as large as it says.
    let done =
        unsafe { libc::getsockopt(file.as_raw_fd(), libc::SOL_SOCKET, name, place, &raw mut size) };
    (done == 0).then_some(value)
}

/// Waits until there is something to read, or for a time; whether it is the first file.
pub fn poll(files: &[BorrowedFd<'_>], time: Option<Duration>) -> bool {
    let mut list: Vec<libc::pollfd> = files
        .iter()
        .map(|file| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    // Rounded up: not again and again in the last millisecond.
    let time = time.map_or(-1, |time| {
        libc::c_int::try_from(time.as_millis()).map_or(libc::c_int::MAX, |ms| ms.saturating_add(1))
    });
    let count = list.len() as libc::nfds_t;
    // SAFETY: the list is ours, and as long as it says.
    let found = unsafe { libc::poll(list.as_mut_ptr(), count, time) };
    found > 0 && list.first().is_some_and(|first| first.revents != 0)
}

/// As `futex_wait`, until one of many words changes; no kernel takes more than 128.
pub fn futex_wait_any(words: &[(&AtomicU32, u32)], time: Duration) -> io::Result<()> {
    let list: Vec<Waiter> = words
        .iter()
        .map(|(word, value)| Waiter {
            value: u64::from(*value),
            word: word.as_ptr() as u64,
            flags: FUTEX_OF_32_BITS,
            reserved: 0,
        })
        .collect();
    let mut until = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the list and the time live through the calls. The time is one of the clock.
    let woken = unsafe {
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut until);
        let ns = until.tv_nsec + libc::c_long::from(time.subsec_nanos() as i32);
        until.tv_sec += libc::time_t::try_from(time.as_secs()).unwrap_or(0) + ns / 1_000_000_000;
        until.tv_nsec = ns % 1_000_000_000;
        libc::syscall(
            libc::SYS_futex_waitv,
            list.as_ptr(),
            list.len(),
            0,
            &raw const until,
            libc::CLOCK_MONOTONIC,
        )
    };
    if woken < 0 {
        let error = io::Error::last_os_error();
        let is_as_ever = [libc::EAGAIN, libc::EINTR, libc::ETIMEDOUT]
            .contains(&error.raw_os_error().unwrap_or_default());
        return if is_as_ever { Ok(()) } else { Err(error) };
    }
    Ok(())
}

/// `struct futex_waitv`.
#[repr(C)]
struct Waiter {
    value: u64,
    word: u64,
    flags: u32,
    reserved: u32,
}
const FUTEX_OF_32_BITS: u32 = 2;

/// Waits until the word changes from a value and somebody says so, or for a time.
pub fn futex_wait(word: &AtomicU32, value: u32, time: Duration) {
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(time.subsec_nanos() as i32),
    };
    // SAFETY: word and time live through the call. Not private: other processes wake us.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time)
    };
}

/// Wakes all that wait for a word.
pub fn futex_wake(word: &AtomicU32) {
    // SAFETY: only the address counts.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, libc::c_int::MAX) };
}

/// Wakes some that wait for the lower half of a word.
pub fn futex_wake_at(word: &AtomicU64, most: u32) {
    let half = usize::from(cfg!(target_endian = "big"));
    let most = libc::c_int::try_from(most).unwrap_or(libc::c_int::MAX);
    // SAFETY: only the address counts.
    unsafe {
        let place = word.as_ptr().cast::<u32>().add(half);
        libc::syscall(libc::SYS_futex, place, libc::FUTEX_WAKE, most)
    };
}

/// Nanoseconds for which the calling thread has run.
pub fn processor_time() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Runs something with all signals held back in this thread, and in those that it starts.
pub fn without_signals<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: all zeros are a value of the structures, which are ours.
    let (mut all, mut old): (libc::sigset_t, libc::sigset_t) = unsafe { mem::zeroed() };
    // SAFETY: as above. What a fault raises is delivered all the same if it is not blocked.
    unsafe {
        libc::sigfillset(&raw mut all);
        for fault in [libc::SIGBUS, libc::SIGSEGV, libc::SIGFPE, libc::SIGILL] {
            libc::sigdelset(&raw mut all, fault);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
    }
    let result = work();
    // SAFETY: as above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const old, ptr::null_mut()) };
    result
}

/// Lets a signal do to this process what it does to programs that say nothing of it; numbers of
/// no signals are left alone.
pub fn act_by_default(number: i32) {
    // SAFETY: nothing of this program is called by what is set here.
    unsafe { libc::signal(number, libc::SIG_DFL) };
}

/// The counter that the tracer reads where it runs at one rate (`tracer/base/clock.h`); elsewhere
/// `CLOCK_MONOTONIC`.
#[must_use]
pub fn counter() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all processors of this architecture have the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    monotonic()
}

/// `CLOCK_MONOTONIC`, in nanoseconds.
#[must_use]
pub fn monotonic() -> u64 {
    // SAFETY: all zeros are a value of the structure, which is ours.
    let mut now: libc::timespec = unsafe { mem::zeroed() };
    // SAFETY: as above.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
