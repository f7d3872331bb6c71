//! Programs for the kernel itself (BPF), which run at its tracepoints, and arrays that they read.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use crate::sys::made;

/// Commands of bpf(2) (`linux/bpf.h`).
const MAKE_ARRAY: libc::c_int = 0;
const SET_ELEMENT: libc::c_int = 2;
const LOAD: libc::c_int = 5;
const OPEN_TRACEPOINT: libc::c_int = 17;
/// `BPF_PROG_TYPE_RAW_TRACEPOINT`.
const RAW_TRACEPOINT: u32 = 17;
/// Bytes of an instruction.
const INSTRUCTION: usize = 8;
/// What it may be combined with: functions that write into the trace are for such programs only.
const LICENSE: &CStr = c"Dual MIT/GPL";
/// `BPF_MAP_TYPE_PERF_EVENT_ARRAY`, and bytes of its keys and values.
const COUNTERS: u32 = 4;
const NUMBER_BYTES: u32 = 4;
/// `BPF_MAP_TYPE_PERCPU_ARRAY`.
const OF_EACH_CPU: u32 = 6;

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

/// What makes an array.
#[repr(C)]
struct ToMake {
    kind: u32,
    key: u32,
    value: u32,
    most: u32,
    flags: u32,
}

/// What sets an element of one.
#[repr(C)]
struct ToSet {
    array: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Lets a program run at a tracepoint, until the descriptor is closed.
///
/// # Errors
///
/// The kernel takes no such programs, has no such tracepoint, or this one makes no sense to it.
pub fn attach_program(code: &[u8], tracepoint: &str) -> io::Result<OwnedFd> {
    let count = code.len() / INSTRUCTION;
    if count * INSTRUCTION != code.len() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no whole instructions"));
    }
    let name = CString::new(tracepoint).map_err(|_| io::ErrorKind::InvalidInput)?;
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
    let loaded = made(call(LOAD, &load)?)?;
    let program = number(loaded.as_raw_fd())?;
    made(call(OPEN_TRACEPOINT, &ToOpen { name: name.as_ptr() as u64, program, padding: 0 })?)
}

/// An array of counters that programs read, with nothing where there is no descriptor.
///
/// # Errors
///
/// The kernel has no such arrays, or it is forbidden.
pub fn counter_array(counters: &[Option<RawFd>]) -> io::Result<OwnedFd> {
    let (key, value) = (NUMBER_BYTES, NUMBER_BYTES);
    let most = u32::try_from(counters.len()).map_err(io::Error::other)?;
    let array = made(call(MAKE_ARRAY, &ToMake { kind: COUNTERS, key, value, most, flags: 0 })?)?;
    let owner = number(array.as_raw_fd())?;
    for (place, counter) in (0_u32..).zip(counters) {
        let Some(counter) = counter else { continue };
        let (key, value) = (std::ptr::from_ref(&place), std::ptr::from_ref(counter));
        let set =
            ToSet { array: owner, padding: 0, key: key as u64, value: value as u64, flags: 0 };
        call(SET_ELEMENT, &set)?;
    }
    Ok(array)
}

/// Memory of each CPU in which programs work.
///
/// # Errors
///
/// The kernel has no such memory, or it is forbidden.
pub fn work_memory(bytes: u32) -> io::Result<OwnedFd> {
    let asked = ToMake { kind: OF_EACH_CPU, key: NUMBER_BYTES, value: bytes, most: 1, flags: 0 };
    made(call(MAKE_ARRAY, &asked)?)
}

fn number(descriptor: RawFd) -> io::Result<u32> {
    u32::try_from(descriptor).map_err(io::Error::other)
}

/// Calls bpf(2), with as much memory as it needs.
///
/// Before Linux 5.11, programs and arrays count as locked memory of the user, of which there is
/// little: 64 KiB are too few for the memory of 4 CPUs.
fn call<T>(command: libc::c_int, facts: &T) -> io::Result<libc::c_long> {
    match call_once(command, facts) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            let before = memory_limit(None)?;
            let all = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
            if memory_limit(Some(&all)).is_err() {
                return Err(error);
            }
            let done = call_once(command, facts);
            // Programs that are started from here inherit it.
            memory_limit(Some(&before))?;
            done
        }
        other => other,
    }
}

/// Sets how much memory may be locked, and returns how much it was before.
fn memory_limit(wanted: Option<&libc::rlimit>) -> io::Result<libc::rlimit> {
    let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    let new = wanted.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both are there, or no new one is.
    if unsafe { libc::prlimit(0, libc::RLIMIT_MEMLOCK, new, &raw mut before) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(before)
}

fn call_once<T>(command: libc::c_int, facts: &T) -> io::Result<libc::c_long> {
    // SAFETY: the kernel reads as many bytes as it is told, and what they point to, which is there.
    let done =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(facts), size_of::<T>()) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_refused() {
        assert!(attach_program(&[0; 7], "sys_enter").is_err());
        assert!(attach_program(&[], "sys_enter").is_err());
        assert!(attach_program(&[255; 8], "sys_enter").is_err());
        assert!(attach_program(&[0; 8], "\0").is_err());
    }

    #[test]
    fn what_is_no_counter_comes_into_no_array() {
        assert!(counter_array(&[Some(-1)]).is_err());
        assert!(work_memory(0).is_err());
    }
}
