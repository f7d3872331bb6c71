//! The kernel's events of performance counters: counting, and what is mapped where
//! (perf_event_open(2)).

#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;

use crate::sys::made;

/// Bytes of what is given up to the number of a clock (`PERF_ATTR_SIZE_VER3`, since Linux 3.3).
const ATTRIBUTE_BYTES: u32 = 96;
/// `PERF_TYPE_SOFTWARE`, `PERF_COUNT_SW_DUMMY`, `PERF_SAMPLE_TIME`.
const SOFTWARE: u32 = 1;
const NOTHING_COUNTED: u64 = 9;
const WITH_TIME: u64 = 1 << 2;
/// The bit `pinned`.
const PINNED: u64 = 1 << 2;
/// The bits `mmap`, `comm`, `task`, `watermark`, `mmap_data`, `sample_id_all`, `mmap2`, `comm_exec`,
/// `use_clockid`; and `build_id`.
const MAPS: u64 =
    1 << 8 | 1 << 9 | 1 << 13 | 1 << 14 | 1 << 17 | 1 << 18 | 1 << 23 | 1 << 24 | 1 << 25;
const BUILD_IDS: u64 = 1 << 34;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSED_ON_EXEC: libc::c_ulong = 8;

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
    watermark: u32,
    breakpoint: u32,
    more: [u64; 4],
    stack: u32,
    clock: i32,
}

/// Counts something on a CPU, whoever runs there, until the descriptor is closed.
///
/// It is pinned: it counts all the time, or has an error, and shares the CPU's counters with none.
///
/// # Errors
///
/// There is no such counter or CPU, or it is forbidden.
pub fn open_counter(kind: u32, config: u64, cpu: u32) -> io::Result<OwnedFd> {
    open(cpu, Attributes { kind, config, flags: PINNED, ..Attributes::default() })
}

/// Tells what processes map on a CPU, until the descriptor is closed: files with their build IDs,
/// processes that begin and end, programs that are executed; by `CLOCK_MONOTONIC`. After
/// `watermark` bytes it can be read.
///
/// # Errors
///
/// There is no such CPU, the kernel cannot, or it is forbidden.
pub fn open_map_events(cpu: u32, watermark: u32) -> io::Result<OwnedFd> {
    let of = |flags| Attributes {
        kind: SOFTWARE,
        config: NOTHING_COUNTED,
        sampled: WITH_TIME,
        flags,
        watermark,
        clock: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    };
    // Linux before 5.12 knows no build IDs.
    open(cpu, of(MAPS | BUILD_IDS)).or_else(|_| open(cpu, of(MAPS)))
}

fn open(cpu: u32, asked: Attributes) -> io::Result<OwnedFd> {
    let asked = Attributes { size: ATTRIBUTE_BYTES, ..asked };
    let (asked, everybody, alone) = (std::ptr::from_ref(&asked), -1_i32, -1_i32);
    let cpu = i32::try_from(cpu).map_err(io::Error::other)?;
    let system_call = libc::SYS_perf_event_open;
    // SAFETY: the kernel reads as many bytes as the structure says of itself, which are there.
    made(unsafe { libc::syscall(system_call, asked, everybody, cpu, alone, CLOSED_ON_EXEC) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_is_as_long_as_it_says() {
        assert_eq!(size_of::<Attributes>(), ATTRIBUTE_BYTES as usize);
    }

    #[test]
    fn what_is_no_counter_is_refused() {
        assert!(open_counter(1, u64::MAX, 0).is_err());
        assert!(open_counter(1, 2, u32::MAX).is_err());
        assert!(open_map_events(u32::MAX, 0).is_err());
    }
}
