//! Programs for the kernel itself (BPF), which run at its tracepoints, and counters that they read.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

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
/// What `perf_event_attr` has at least (`PERF_ATTR_SIZE_VER1`), and its bit `pinned`.
const ATTRIBUTE_BYTES: u32 = 72;
const PINNED: u64 = 1 << 2;
/// The same up to the number of a clock (`PERF_ATTR_SIZE_VER3`).
const MAP_ATTRIBUTE_BYTES: u32 = 96;
/// `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_DUMMY`, `PERF_SAMPLE_TIME`.
const SOFTWARE: u32 = 1;
const NOTHING_COUNTED: u64 = 9;
const WITH_TIME: u64 = 1 << 2;
/// Its bits `mmap`, `comm`, `task`, `watermark`, `mmap_data`, `sample_id_all`, `mmap2`, `comm_exec`,
/// `use_clockid`; and `build_id`.
const MAPS: u64 =
    1 << 8 | 1 << 9 | 1 << 13 | 1 << 14 | 1 << 17 | 1 << 18 | 1 << 23 | 1 << 24 | 1 << 25;
const BUILD_IDS: u64 = 1 << 34;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSED_ON_EXEC: libc::c_ulong = 8;

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

/// The beginning of `perf_event_attr` (`linux/perf_event.h`).
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sampled: u64,
    read: u64,
    flags: u64,
    more: [u64; 3],
}

/// The same up to its clock (`PERF_ATTR_SIZE_VER3`).
#[repr(C)]
#[derive(Default)]
struct MapAttributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sampled: u64,
    read: u64,
    flags: u64,
    watermark: u32,
    unused: u32,
    more: [u64; 4],
    stack: u32,
    clock: i32,
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

/// Counts something on a CPU, whoever runs there, until the descriptor is closed.
///
/// It is pinned: it counts all the time, or has an error, and shares the CPU's counters with none.
///
/// # Errors
///
/// There is no such counter or CPU, or it is forbidden.
pub fn open_counter(kind: u32, config: u64, cpu: u32) -> io::Result<OwnedFd> {
    let size = ATTRIBUTE_BYTES;
    let asked = Attributes { kind, size, config, flags: PINNED, ..Attributes::default() };
    let (asked, everybody, alone) = (std::ptr::from_ref(&asked), -1_i32, -1_i32);
    let cpu = i32::try_from(cpu).map_err(io::Error::other)?;
    let system_call = libc::SYS_perf_event_open;
    // SAFETY: the kernel reads as many bytes as the structure says of itself, which are there.
    made(unsafe { libc::syscall(system_call, asked, everybody, cpu, alone, CLOSED_ON_EXEC) })
}

/// Tells what processes map on a CPU, until the descriptor is closed: files with their build IDs,
/// processes that begin and end, programs that are executed; by `CLOCK_MONOTONIC`. After
/// `watermark` bytes it can be read.
///
/// # Errors
///
/// There is no such CPU, the kernel cannot, or it is forbidden.
pub fn open_map_events(cpu: u32, watermark: u32) -> io::Result<OwnedFd> {
    // Linux before 5.12 knows no build IDs.
    open_maps(cpu, watermark, MAPS | BUILD_IDS).or_else(|_| open_maps(cpu, watermark, MAPS))
}

fn open_maps(cpu: u32, watermark: u32, flags: u64) -> io::Result<OwnedFd> {
    let asked = MapAttributes {
        kind: SOFTWARE,
        size: MAP_ATTRIBUTE_BYTES,
        config: NOTHING_COUNTED,
        sampled: WITH_TIME,
        flags,
        watermark,
        clock: libc::CLOCK_MONOTONIC,
        ..MapAttributes::default()
    };
    let (asked, everybody, alone) = (std::ptr::from_ref(&asked), -1_i32, -1_i32);
    let cpu = i32::try_from(cpu).map_err(io::Error::other)?;
    let system_call = libc::SYS_perf_event_open;
    // SAFETY: the kernel reads as many bytes as the structure says of itself, which are there.
    made(unsafe { libc::syscall(system_call, asked, everybody, cpu, alone, CLOSED_ON_EXEC) })
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

fn call<T>(command: libc::c_int, facts: &T) -> io::Result<libc::c_long> {
    // SAFETY: the kernel reads as many bytes as it is told, and what they point to, which is there.
    let done =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(facts), size_of::<T>()) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(done)
}

fn made(descriptor: libc::c_long) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    let number = i32::try_from(descriptor).map_err(io::Error::other)?;
    // SAFETY: it is new, and ours.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
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
    fn what_is_no_counter_is_refused() {
        assert!(open_counter(1, u64::MAX, 0).is_err());
        assert!(open_counter(1, 2, u32::MAX).is_err());
        assert!(counter_array(&[Some(-1)]).is_err());
        assert!(work_memory(0).is_err());
    }
}
