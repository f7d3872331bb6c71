//! A thread that copies full packets of programs that wait for room.
//!
//! It is woken by these programs themselves, whatever all else does meanwhile. Whoever has to do
//! with the files holds it, and says then what the files are from now on.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::full_packets::{copy_each, duplicate, is_any_full, Files, Ring};
use crate::sys;

const PIPE_BYTES: usize = 4096;

struct State {
    files: Vec<Files>,
    copied: Vec<u64>,
    is_ended: bool,
}

struct Shared {
    rings: Vec<Ring>,
    /// Set before the state is asked for: the thread, which takes it again and again, lets go.
    is_held: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

/// The thread.
pub struct Follower {
    shared: Arc<Shared>,
    /// Where programs say that a sub-buffer is full.
    wake: File,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a packet of each ring; how many, none if it has ended.
    fn pass(&self) -> Option<u64> {
        let held = |state: &mut State| self.is_held.load(Ordering::SeqCst) && !state.is_ended;
        let waited = self.changed.wait_while(self.state(), held);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.is_ended {
            return None;
        }
        let State { files, copied, .. } = &mut *state;
        Some(copy_each(&self.rings, files, copied))
    }

    /// Copies as long as there is something. To look for more would cost it the preference that
    /// the scheduler gives to who has slept.
    fn drain(&self) -> Option<()> {
        while self.pass()? > 0 {}
        Some(())
    }

    fn follow(&self, mut wakes: File, mut left: File) {
        let mut raw = [0; PIPE_BYTES];
        loop {
            sys::poll(&[wakes.as_fd()], None);
            // It does not block; what came is what `drain` finds.
            let _ = wakes.read(&mut raw);
            if self.drain().is_none() {
                return;
            }
            if is_any_full(&self.rings, &self.state().files) {
                // Who has not yet read the last one finds this, too.
                let _ = left.write(&[1]);
            }
        }
    }
}

impl Follower {
    /// Starts the thread, which is held.
    ///
    /// `wakes` and `wake` are the ends of the pipe that programs write to; `left` is where the
    /// thread says that there is something that it cannot do. None of them may block.
    pub fn new(rings: Vec<Ring>, wakes: RawFd, wake: RawFd, left: RawFd) -> io::Result<Self> {
        let state = State { files: Vec::new(), copied: vec![0; rings.len()], is_ended: false };
        let shared = Shared {
            rings,
            is_held: AtomicBool::new(true),
            state: Mutex::new(state),
            changed: Condvar::new(),
        };
        let shared = Arc::new(shared);
        let (wakes, wake, left) = (duplicate(wakes)?, duplicate(wake)?, duplicate(left)?);
        let inner = Arc::clone(&shared);
        let named = thread::Builder::new().name("packets".to_owned());
        let thread = sys::without_signals(|| named.spawn(move || inner.follow(wakes, left)))?;
        Ok(Self { shared, wake, thread: Mutex::new(Some(thread)) })
    }

    /// Lets the thread do nothing any more; how many bytes each data file got.
    pub fn hold(&self) -> Vec<u64> {
        self.shared.is_held.store(true, Ordering::SeqCst);
        let mut state = self.shared.state();
        let copied = state.copied.clone();
        state.copied.fill(0);
        copied
    }

    /// Lets the thread go on, with the files that there are now.
    pub fn go_on(&self, files: Vec<Files>) {
        let mut state = self.shared.state();
        state.files = files;
        self.shared.is_held.store(false, Ordering::SeqCst);
        self.shared.changed.notify_all();
    }

    /// Ends the thread.
    pub fn end(&self) {
        self.shared.state().is_ended = true;
        self.shared.changed.notify_all();
        // If the pipe is full, the thread is awake.
        let _ = (&self.wake).write(&[1]);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.end();
    }
}
