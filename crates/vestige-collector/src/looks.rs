//! Looking at files of other processes without opening them, by system calls that the
//! standard library does not have.

#![allow(unsafe_code)]

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;

fn c_text(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn made(descriptor: i64) -> io::Result<File> {
    let descriptor = RawFd::try_from(descriptor).unwrap_or(-1);
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and ours.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// A file by its path from a directory: not opened, whatever it is.
///
/// # Errors
///
/// There is none, or it may not be looked at.
pub fn look_at(directory: &File, path: &str) -> io::Result<File> {
    let path = c_text(OsStr::new(path))?;
    let flags = libc::O_PATH | libc::O_CLOEXEC;
    // SAFETY: the path ends in a zero.
    made(unsafe { libc::openat(directory.as_raw_fd(), path.as_ptr(), flags) }.into())
}

/// The same; no part of the path may be a symbolic link, or lead out of the directory.
///
/// # Errors
///
/// As before; also of a kernel before 5.6.
pub fn look_inside(directory: &File, path: &OsStr) -> io::Result<File> {
    let path = c_text(path)?;
    // SAFETY: all zeros are a value of the structure.
    let mut how: libc::open_how = unsafe { std::mem::zeroed() };
    how.flags = (libc::O_PATH | libc::O_CLOEXEC) as u64;
    how.resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_SYMLINKS;
    let size = std::mem::size_of::<libc::open_how>();
    let (number, root) = (libc::SYS_openat2, directory.as_raw_fd());
    // SAFETY: the path ends in a zero; the structure is as large as it says.
    made(unsafe { libc::syscall(number, root, path.as_ptr(), &raw const how, size) })
}

/// What a symbolic link in a directory says.
///
/// # Errors
///
/// There is none, or it may not be read.
pub fn read_link(directory: &File, name: &str) -> io::Result<Vec<u8>> {
    let name = c_text(OsStr::new(name))?;
    let mut text = vec![0_u8; libc::PATH_MAX as usize];
    let place = text.as_mut_ptr().cast();
    // SAFETY: the name ends in a zero; the place is as large as it says.
    let size = unsafe { libc::readlinkat(directory.as_raw_fd(), name.as_ptr(), place, text.len()) };
    text.truncate(usize::try_from(size).map_err(|_| io::Error::last_os_error())?);
    Ok(text)
}
