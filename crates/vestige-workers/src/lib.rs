//! The threads that share long work.
//!
//! The pool of rayon is one for each program and does not survive fork(2): the child has
//! its memory but not its threads, and would wait for them forever. Python programs do
//! fork, `multiprocessing` above all. So each process has a pool of its own.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::ThreadPool;

/// The pool, and the process that its threads run in.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Runs work with threads of this process; with those of rayon where no pool can be made.
pub fn on_all_cores<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Runs work with threads of this process, and meanwhile something else in this thread.
pub fn meanwhile<W: Send, H>(
    work: impl FnOnce() -> W + Send,
    here: impl FnOnce() -> H,
) -> (Option<W>, H) {
    let mut result = None;
    let here = match pool() {
        Some(pool) => pool.in_place_scope(|scope| {
            scope.spawn(|_| result = Some(work()));
            here()
        }),
        None => rayon::in_place_scope(|scope| {
            scope.spawn(|_| result = Some(work()));
            here()
        }),
    };
    (result, here)
}

/// Runs work on one of the threads of this process, when one is free.
pub fn spawn(work: impl FnOnce() + Send + 'static) {
    match pool() {
        Some(pool) => pool.spawn(work),
        None => rayon::spawn(work),
    }
}

/// How many threads share the work.
#[must_use]
pub fn thread_count() -> usize {
    pool().map_or(1, |pool| pool.current_num_threads())
}

fn pool() -> Option<Arc<ThreadPool>> {
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, pool)) = known.as_ref() {
        if *process == process::id() {
            return Some(Arc::clone(pool));
        }
    }
    let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().ok()?);
    if let Some(of_parent) = known.replace((process::id(), Arc::clone(&pool))) {
        // Dropping it would tell threads to end that are not here.
        std::mem::forget(of_parent);
    }
    Some(pool)
}
