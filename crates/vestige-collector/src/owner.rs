//! Whose a trace is: root's collector touches its files with the rights of that user.
//!
//! A user can put links in the place of files and directories of its own at any time: what the
//! kernel refuses to the user, it is to refuse to us.

#![allow(unsafe_code)]

use std::io;
use std::path::{Path, PathBuf};

use crate::sys;

/// A user, with all groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub user: u32,
    pub group: u32,
    pub groups: Vec<u32>,
}

/// The directory of a trace, and whose it is; none: it is that of who collects.
#[derive(Clone, Debug)]
pub struct Place {
    pub path: PathBuf,
    pub owner: Option<Owner>,
}

impl From<&Path> for Place {
    fn from(path: &Path) -> Self {
        Self { path: path.to_owned(), owner: None }
    }
}

impl From<&PathBuf> for Place {
    fn from(path: &PathBuf) -> Self {
        path.as_path().into()
    }
}

impl Place {
    /// The user to whom the directory must belong.
    pub fn user(&self) -> u32 {
        self.owner.as_ref().map_or_else(sys::effective_user, |one| one.user)
    }

    /// Does something with the rights of the owner, in this thread.
    pub fn with_rights<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let _taken = self.owner.as_ref().map(Taken::new).transpose()?;
        work()
    }
}

/// Rights of another user, given back at the end.
struct Taken {
    groups: Vec<libc::gid_t>,
}

impl Taken {
    fn new(owner: &Owner) -> io::Result<Self> {
        let taken = Self { groups: groups()? };
        set_groups(&owner.groups)?;
        set_file_ids(owner.user, owner.group);
        // They return what was before, also when they fail.
        if set_file_ids(libc::uid_t::MAX, libc::gid_t::MAX) == (owner.user, owner.group) {
            Ok(taken)
        } else {
            Err(io::Error::from_raw_os_error(libc::EPERM))
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        set_file_ids(0, 0);
        // Who cannot has fewer rights than before.
        let _ = set_groups(&self.groups);
    }
}

/// Sets the IDs by which files are checked, of this thread; those that were before.
fn set_file_ids(user: u32, group: u32) -> (u32, u32) {
    // SAFETY: no memory is passed.
    unsafe {
        let group = libc::setfsgid(group);
        (libc::setfsuid(user) as u32, group as u32)
    }
}

fn groups() -> io::Result<Vec<libc::gid_t>> {
    // SAFETY: nothing is written where there is room for nothing.
    let count = unsafe { libc::getgroups(0, std::ptr::null_mut()) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let mut found = vec![0; count];
    // SAFETY: there is room for so many.
    let done = unsafe { libc::getgroups(count as libc::c_int, found.as_mut_ptr()) };
    found.truncate(usize::try_from(done).map_err(|_| io::Error::last_os_error())?);
    Ok(found)
}

/// Sets the groups of this thread alone, which the function of the C library does not.
fn set_groups(groups: &[libc::gid_t]) -> io::Result<()> {
    // SAFETY: the memory has so many.
    let done = unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
