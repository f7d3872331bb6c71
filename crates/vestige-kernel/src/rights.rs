//! The kernel's file system of tracing without a place where it is mounted, and a process without
//! rights.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

/// `FSOPEN_CLOEXEC` and `FSMOUNT_CLOEXEC` (`linux/mount.h`).
const CLOSED_AT_EXEC: libc::c_uint = 1;
/// `FSCONFIG_CMD_CREATE`.
const CREATE: libc::c_uint = 6;
/// `_LINUX_CAPABILITY_VERSION_3` (`linux/capability.h`).
const VERSION: u32 = 0x2008_0522;

/// What capset(2) takes: the version and the process, this thread.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    process: i32,
}

/// Opens tracefs where nobody else sees it: it is mounted nowhere, and gone with its descriptor.
///
/// # Errors
///
/// The kernel has none, is older than 5.2, or forbids it.
pub fn open_tracefs() -> io::Result<OwnedFd> {
    // SAFETY: names end in zeros; descriptors are new, and ours.
    unsafe {
        let asked = libc::syscall(libc::SYS_fsopen, c"tracefs".as_ptr(), CLOSED_AT_EXEC);
        let asked = owned(asked)?;
        let nothing = ptr::null::<libc::c_char>();
        let made =
            libc::syscall(libc::SYS_fsconfig, asked.as_raw_fd(), CREATE, nothing, nothing, 0);
        checked(made)?;
        owned(libc::syscall(libc::SYS_fsmount, asked.as_raw_fd(), CLOSED_AT_EXEC, 0))
    }
}

/// Gives up all rights of this process for good, and becomes a user with groups.
///
/// It may have one thread only.
///
/// # Errors
///
/// The system refuses it; some may be gone.
pub fn drop_rights(user: u32, group: u32, more: &[u32]) -> io::Result<()> {
    let header = CapabilityHeader { version: VERSION, process: 0 };
    let none = [0_u32; 6];
    // SAFETY: the kernel reads the structures, which are as long as it expects, and no memory else.
    unsafe {
        checked(libc::syscall(libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
        checked(libc::syscall(libc::SYS_setgroups, more.len(), more.as_ptr()))?;
        checked(libc::syscall(libc::SYS_setresgid, group, group, group))?;
        checked(libc::syscall(libc::SYS_setresuid, user, user, user))?;
        checked(libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr())).map(drop)
    }
}

fn checked(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// # Safety
///
/// The descriptor is new, and ours.
unsafe fn owned(result: libc::c_long) -> io::Result<OwnedFd> {
    let number = checked(result)?.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: see above.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
