//! Robust mutexes in an arena: the kernel marks them when the thread that locked one ends.

#![allow(unsafe_code)]

use std::io;
use std::mem::{size_of, MaybeUninit};

use crate::layout::Life;
use crate::mapping::Mapping;

fn checked(result: libc::c_int) -> io::Result<()> {
    if result != 0 {
        return Err(io::Error::from_raw_os_error(result));
    }
    Ok(())
}

fn mutex(memory: &Mapping, at: u64) -> io::Result<*mut libc::pthread_mutex_t> {
    let place = memory.pointer(at, size_of::<Life>() as u64);
    Ok(place.ok_or(io::ErrorKind::InvalidInput)?.cast())
}

/// Makes a mutex that processes share; nobody may have it locked.
pub fn make(memory: &Mapping, at: u64) -> io::Result<()> {
    let mutex = mutex(memory, at)?;
    let mut kind = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let kind = kind.as_mut_ptr();
    // SAFETY: the first call makes the attributes that the others use; the mutex lies inside
    // the memory, which is zeroed or had one whose owner is dead.
    unsafe {
        checked(libc::pthread_mutexattr_init(kind))?;
        let made = checked(libc::pthread_mutexattr_setrobust(kind, libc::PTHREAD_MUTEX_ROBUST))
            .and_then(|()| {
                let shared = libc::PTHREAD_PROCESS_SHARED;
                checked(libc::pthread_mutexattr_setpshared(kind, shared))
            })
            .and_then(|()| checked(libc::pthread_mutex_init(mutex, kind)));
        libc::pthread_mutexattr_destroy(kind);
        made
    }
}

/// Locks a mutex for as long as this thread lives.
pub fn hold(memory: &Mapping, at: u64) -> io::Result<()> {
    let mutex = mutex(memory, at)?;
    // SAFETY: the mutex was made by `make`, and is mapped until the process ends.
    checked(unsafe { libc::pthread_mutex_trylock(mutex) })
}
