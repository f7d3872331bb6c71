//! System calls that the standard library does not have, without judgement.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};

/// Waits until a descriptor is readable or closed at its other end, or for so many milliseconds; of
/// which that is true.
pub fn poll<const N: usize>(files: [BorrowedFd<'_>; N], wait: i32) -> io::Result<[bool; N]> {
    let mut asked =
        files.map(|one| libc::pollfd { fd: one.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    // SAFETY: there are N structures, which are ours.
    let found = unsafe { libc::poll(asked.as_mut_ptr(), N as libc::nfds_t, wait) };
    if found < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(asked.map(|one| found > 0 && one.revents != 0))
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
