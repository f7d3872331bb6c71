//! The memory of an arena, which programs change at any time.
//!
//! No Rust reference to its bytes is made but to atomics, and each access is checked against
//! its length.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicU8, Ordering};

pub const PAGE: u32 = 4096;

/// What an access outside of the memory gets; no arena is so small that one happens.
static NOWHERE_32: AtomicU32 = AtomicU32::new(0);
static NOWHERE_64: AtomicU64 = AtomicU64::new(0);

/// A file, mapped to be shared.
pub struct Mapping {
    base: *mut u8,
    bytes: u64,
}

// SAFETY: the memory belongs to no thread, and is only accessed through atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `bytes` of a file.
    pub fn new(file: &File, bytes: u64) -> io::Result<Self> {
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        // SAFETY: a new place, which nothing else has.
        let base =
            unsafe { libc::mmap(ptr::null_mut(), length, access, flags, file.as_raw_fd(), 0) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { base: base.cast(), bytes })
    }

    /// The address of the first byte.
    pub fn address(&self) -> usize {
        self.base as usize
    }

    /// The length.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A pointer to `count` bytes, for the kernel or the C library; none if they are not inside.
    pub fn pointer(&self, at: u64, count: u64) -> Option<*mut u8> {
        let end = at.checked_add(count)?;
        // SAFETY: the place is inside the memory, or at its end.
        (end <= self.bytes).then(|| unsafe { self.base.add(at as usize) })
    }

    /// A number of 32 bits.
    pub fn u32(&self, at: u64) -> &AtomicU32 {
        match self.pointer(at, 4) {
            // SAFETY: inside, aligned, as long-lived as self, and never accessed otherwise.
            Some(place) if at % 4 == 0 => unsafe { AtomicU32::from_ptr(place.cast()) },
            _ => &NOWHERE_32,
        }
    }

    /// A number of 64 bits.
    pub fn u64(&self, at: u64) -> &AtomicU64 {
        match self.pointer(at, 8) {
            // SAFETY: inside, aligned, as long-lived as self, and never accessed otherwise.
            Some(place) if at % 8 == 0 => unsafe { AtomicU64::from_ptr(place.cast()) },
            _ => &NOWHERE_64,
        }
    }

    fn u8(&self, at: u64) -> Option<&AtomicU8> {
        let place = self.pointer(at, 1)?;
        // SAFETY: inside, and as long-lived as self.
        Some(unsafe { AtomicU8::from_ptr(place) })
    }

    /// Copies bytes out; what lies outside stays as it is.
    pub fn read(&self, at: u64, into: &mut [u8]) {
        for (place, byte) in (at..self.bytes).zip(into) {
            if let Some(from) = self.u8(place) {
                *byte = from.load(Ordering::Relaxed);
            }
        }
    }

    /// Copies bytes in, as far as they fit.
    pub fn write(&self, at: u64, from: &[u8]) {
        for (place, byte) in (at..self.bytes).zip(from) {
            if let Some(to) = self.u8(place) {
                to.store(*byte, Ordering::Relaxed);
            }
        }
    }

    /// Whether all pages of a part are in memory just now. Those that are not may be on a disk.
    pub fn is_there(&self, at: u64, count: u32) -> bool {
        let page = u64::from(PAGE);
        let start = at / page * page;
        let count = at + u64::from(count) - start;
        let Some(place) = self.pointer(start, count) else { return false };
        let mut pages = vec![0; count.div_ceil(page) as usize];
        // SAFETY: the kernel says one byte for each page, of which there are as many.
        let done = unsafe { libc::mincore(place.cast(), count as usize, pages.as_mut_ptr()) };
        done == 0 && pages.iter().all(|one| one & 1 != 0)
    }

    /// Makes the pages, so that no store to them can fail; `must` if nothing else has made sure
    /// that they have blocks.
    pub fn populate(&self, at: u64, count: u64, must: bool) -> io::Result<()> {
        let place = self.pointer(at, count).ok_or(io::ErrorKind::InvalidInput)?;
        // SAFETY: the pages are ours; their contents stay.
        let done =
            unsafe { libc::madvise(place.cast(), count as usize, libc::MADV_POPULATE_WRITE) };
        if done == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            // Older kernels make them when they are touched.
            Some(libc::EINVAL) if !must => Ok(()),
            // A store would be answered by a signal.
            Some(libc::EFAULT) => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Err(error),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: whoever has a reference into the memory has one to self.
        unsafe { libc::munmap(self.base.cast(), self.bytes as usize) };
    }
}
