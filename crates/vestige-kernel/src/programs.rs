//! A program for the kernel itself (BPF), which runs at the entry of each system call.

#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Commands of bpf(2) (`linux/bpf.h`).
const LOAD: libc::c_int = 5;
const OPEN_TRACEPOINT: libc::c_int = 17;
/// `BPF_PROG_TYPE_RAW_TRACEPOINT`.
const RAW_TRACEPOINT: u32 = 17;
/// Bytes of an instruction.
const INSTRUCTION: usize = 8;
/// What it may be combined with: functions that write into the trace are for such programs only.
const LICENSE: &std::ffi::CStr = c"Dual MIT/GPL";
const TRACEPOINT: &std::ffi::CStr = c"sys_enter";

/// The beginning of what loads a program.
#[repr(C)]
struct ToLoad {
    kind: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
}

/// What lets one run at a tracepoint.
#[repr(C)]
struct ToOpen {
    name: u64,
    program: u32,
    padding: u32,
}

/// Lets a program run at the entry of each system call, until the descriptor is closed.
///
/// # Errors
///
/// The kernel takes no such programs, or this one makes no sense to it.
pub fn attach_to_system_calls(code: &[u8]) -> io::Result<OwnedFd> {
    let count = code.len() / INSTRUCTION;
    if count * INSTRUCTION != code.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no whole instructions"));
    }
    let load = ToLoad {
        kind: RAW_TRACEPOINT,
        instructions: u32::try_from(count).map_err(io::Error::other)?,
        code: code.as_ptr() as u64,
        license: LICENSE.as_ptr() as u64,
        log_level: 0,
        log_size: 0,
        log: 0,
    };
    // Once it runs at the tracepoint, its own descriptor is not needed.
    let loaded = call(LOAD, &load)?;
    let program = u32::try_from(loaded.as_raw_fd()).map_err(io::Error::other)?;
    call(OPEN_TRACEPOINT, &ToOpen { name: TRACEPOINT.as_ptr() as u64, program, padding: 0 })
}

fn call<T>(command: libc::c_int, facts: &T) -> io::Result<OwnedFd> {
    // SAFETY: the kernel reads as many bytes as it is told, and what they point to, which is there.
    let made =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(facts), size_of::<T>()) };
    let number = i32::try_from(made).map_err(io::Error::other)?;
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it is new, and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(attach_to_system_calls(&[0; 7]).is_err());
        assert!(attach_to_system_calls(&[]).is_err());
        assert!(attach_to_system_calls(&[255; 8]).is_err());
    }
}
