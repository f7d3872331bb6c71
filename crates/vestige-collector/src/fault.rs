//! Arenas that their owner truncates while they are mapped: no signal may end the recorder.
//!
//! A page that is not there any more becomes one of zeros, and the arena is marked.

#![allow(unsafe_code)]

use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::mapping::Mapping;

/// Arenas and accounts that are guarded at the same time, of all recordings of a process.
const MOST_ARENAS: usize = 512;

struct Place {
    base: AtomicUsize,
    bytes: AtomicUsize,
    is_damaged: AtomicBool,
}

static PLACES: [Place; MOST_ARENAS] = [const {
    Place {
        base: AtomicUsize::new(0),
        bytes: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
    }
}; MOST_ARENAS];
static OLD: OnceLock<libc::sigaction> = OnceLock::new();
static CHANGES: Mutex<()> = Mutex::new(());

/// Keeps an arena from ending the process; dropped before its memory.
pub struct Guard {
    place: Option<&'static Place>,
}

impl Guard {
    /// Guards an arena from now on.
    pub fn new(memory: &Mapping) -> Self {
        let _lock = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        install();
        let place = PLACES.iter().find(|place| place.bytes.load(Ordering::Relaxed) == 0);
        if let Some(place) = place {
            place.is_damaged.store(false, Ordering::Relaxed);
            place.base.store(memory.address(), Ordering::Relaxed);
            place.bytes.store(memory.bytes() as usize, Ordering::Release);
        }
        Self { place }
    }

    /// Whether there was a place for it.
    pub const fn is_set(&self) -> bool {
        self.place.is_some()
    }

    /// Whether pages of the arena were missing.
    pub fn is_damaged(&self) -> bool {
        self.place.is_some_and(|place| place.is_damaged.load(Ordering::Relaxed))
    }

    /// Notes that the kernel found pages missing.
    pub fn set_damaged(&self) {
        if let Some(place) = self.place {
            place.is_damaged.store(true, Ordering::Relaxed);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _lock = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = self.place {
            place.bytes.store(0, Ordering::Release);
        }
    }
}

fn install() {
    OLD.get_or_init(|| {
        // SAFETY: all zeros are a value of the structure.
        let mut action: libc::sigaction = unsafe { mem::zeroed() };
        let mut old = action;
        action.sa_sigaction = on_fault as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        // SAFETY: the handler only does what handlers may do.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, &raw mut old) };
        old
    });
}

extern "C" fn on_fault(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: the kernel passes it.
    let address = unsafe { (*info).si_addr() } as usize;
    for place in &PLACES {
        let bytes = place.bytes.load(Ordering::Acquire);
        let base = place.base.load(Ordering::Relaxed);
        if address.wrapping_sub(base) < bytes {
            place.is_damaged.store(true, Ordering::Relaxed);
            if cover(address) {
                return;
            }
        }
    }
    pass_on(signal, info, context);
}

/// Puts a page of zeros over the one that is missing.
fn cover(address: usize) -> bool {
    // SAFETY: it only asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let place = (address & !(page - 1)) as *mut libc::c_void;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    // SAFETY: the page is one of an arena, which is only accessed through atomics.
    let found = unsafe { libc::mmap(place, page, access, flags, -1, 0) };
    found != libc::MAP_FAILED
}

/// Leaves a fault elsewhere to who handled it before.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let old = OLD.get();
    let handler = old.map_or(libc::SIG_DFL, |old| old.sa_sigaction);
    if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
        // The fault comes again, and ends the process.
        // SAFETY: all zeros are a value of the structure: the default.
        unsafe {
            let action: libc::sigaction = mem::zeroed();
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
        return;
    }
    if old.is_some_and(|old| old.sa_flags & libc::SA_SIGINFO != 0) {
        type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: with this flag it is such a function.
        let handler = unsafe { mem::transmute::<usize, Handler>(handler) };
        handler(signal, info, context);
    } else {
        // SAFETY: without that flag it is such a function.
        let handler = unsafe { mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler) };
        handler(signal);
    }
}
