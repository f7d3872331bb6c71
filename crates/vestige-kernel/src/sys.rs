//! System calls that the standard library does not have, without judgement.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

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
