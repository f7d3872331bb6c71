//! System calls that the standard library does not have, without judgement.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

const READABLE: libc::c_short = libc::POLLIN | libc::POLLHUP;

/// Waits until a descriptor is readable or closed at its other end, or for so many milliseconds; of
/// which that is true.
///
/// One that is neither, and never will be, is not waited for: a CPU that is switched off has no
/// buffer, and the kernel says of its pages at once that there is an error.
pub fn poll<const N: usize>(files: [BorrowedFd<'_>; N], wait: i32) -> io::Result<[bool; N]> {
    let mut asked =
        files.map(|one| libc::pollfd { fd: one.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let mut found = poll_once(&mut asked, wait)?;
    if found > 0 && asked.iter().all(|one| one.revents & READABLE == 0) {
        for one in asked.iter_mut().filter(|one| one.revents != 0) {
            // The kernel leaves these out.
            one.fd = -1;
        }
        found = poll_once(&mut asked, wait)?;
    }
    Ok(asked.map(|one| found > 0 && one.revents & READABLE != 0))
}

fn poll_once(asked: &mut [libc::pollfd], wait: i32) -> io::Result<libc::c_int> {
    // SAFETY: there are so many structures, which are ours.
    let found = unsafe { libc::poll(asked.as_mut_ptr(), asked.len() as libc::nfds_t, wait) };
    if found < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(found)
}

/// Opens a file to be read, by its path below a directory.
///
/// # Errors
///
/// It cannot be opened.
pub fn open_below(directory: &impl AsRawFd, path: &str) -> io::Result<File> {
    let path = CString::new(path).map_err(|_| io::ErrorKind::InvalidInput)?;
    let flags = libc::O_RDONLY | libc::O_CLOEXEC;
    // SAFETY: the path ends in a zero; the descriptor is new, and ours.
    unsafe {
        let file = libc::openat(directory.as_raw_fd(), path.as_ptr(), flags);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_fd(file))
    }
}

/// The ID of this thread.
pub fn thread_id() -> i32 {
    // SAFETY: it has no arguments, and cannot fail.
    unsafe { libc::gettid() }
}

/// What sched_setattr(2) takes; the first version of it.
#[repr(C)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Lets this thread, and those that it starts, have the processor for so many nanoseconds at a time,
/// and have it the sooner for that: from Linux 6.12 on, who asks for less goes first (`PREEMPT_SHORT`,
/// `kernel/sched/fair.c`). Older ones take no notice.
///
/// # Errors
///
/// The system refuses it.
pub fn shorten_slice(nanoseconds: u64) -> io::Result<()> {
    // SAFETY: it has no arguments that point to anything.
    let nice = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    let asked = Scheduling {
        size: u32::try_from(std::mem::size_of::<Scheduling>()).unwrap_or(0),
        policy: 0,
        flags: 0,
        nice,
        priority: 0,
        runtime: nanoseconds,
        deadline: 0,
        period: 0,
    };
    // SAFETY: the kernel reads the structure, which says how long it is.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const asked, 0) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Reads pages from a file that gives one with each read(2), as many as there are and room is for;
/// how many bytes these have.
///
/// # Errors
///
/// There is none now, or it cannot be read.
pub fn read_pages(file: &File, room: &mut [u8], page: usize) -> io::Result<usize> {
    let mut parts: Vec<libc::iovec> = room
        .chunks_mut(page.max(1))
        .map(|one| libc::iovec { iov_base: one.as_mut_ptr().cast(), iov_len: one.len() })
        .collect();
    let count = libc::c_int::try_from(parts.len()).unwrap_or(libc::c_int::MAX);
    // SAFETY: the parts are those of the room, which is ours, and there are so many.
    let bytes = unsafe { libc::readv(file.as_raw_fd(), parts.as_mut_ptr(), count) };
    usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
}

/// Opens an empty file in a directory, in place of one that may be there; it follows no link.
///
/// # Errors
///
/// It cannot be made.
pub fn open_new(directory: &impl AsRawFd, name: &str) -> io::Result<File> {
    let name = CString::new(name).map_err(|_| io::ErrorKind::InvalidInput)?;
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the name ends in a zero; the descriptor is new, and ours.
    unsafe {
        let file = libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o660);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_fd(file))
    }
}

/// The descriptor that a system call has made, or its error.
///
/// # Errors
///
/// It has made none.
pub(crate) fn made(descriptor: libc::c_long) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    let number = i32::try_from(descriptor).map_err(io::Error::other)?;
    // SAFETY: whoever calls has just got it from a system call, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use super::*;

    /// One that has an error and nothing to read, as pages of a CPU without a buffer.
    fn broken() -> OwnedFd {
        let mut ends = [0; 2];
        // SAFETY: there is room for two descriptors, which are new and ours.
        let (reads, writes) = unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))
        };
        drop(reads);
        writes
    }

    #[test]
    fn a_thread_has_a_shorter_slice() {
        // As the kernel takes it, or says that it is none.
        let set = std::thread::spawn(|| (shorten_slice(100_000), shorten_slice(0))).join();
        assert!(matches!(set, Ok((Ok(()), Ok(())))));
    }

    #[test]
    fn pages_are_read_in_one_go() {
        let (mut rings, bell) = UnixStream::pair().unwrap();
        bell.set_nonblocking(true).unwrap();
        let file = File::from(OwnedFd::from(bell));
        let mut room = [0; 12];

        assert_eq!(read_pages(&file, &mut room, 4).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        rings.write_all(b"onestwos").unwrap();
        assert_eq!(read_pages(&file, &mut room, 4).unwrap(), 8);
        assert_eq!(&room, b"onestwos\0\0\0\0");
        drop(rings);
        assert_eq!(read_pages(&file, &mut room, 4).unwrap(), 0);
    }

    #[test]
    fn what_has_an_error_is_not_waited_for() {
        let (mut rings, bell) = UnixStream::pair().unwrap();
        let broken = broken();
        let wait = Duration::from_millis(20);
        let begin = Instant::now();
        assert_eq!(poll([bell.as_fd(), broken.as_fd()], 20).unwrap(), [false, false]);
        assert!(begin.elapsed() >= wait);

        rings.write_all(b"+").unwrap();
        assert_eq!(poll([bell.as_fd(), broken.as_fd()], -1).unwrap(), [true, false]);
    }
}
