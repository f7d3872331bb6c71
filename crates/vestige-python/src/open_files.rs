//! Files that are opened again when they are needed: a process may have fewer open files than
//! a trace has data streams.
//!
//! Nothing here waits for a lock that another thread may hold for long: a child of fork(2)
//! has the locks as they were, and nobody who opens them.

use std::collections::VecDeque;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError, Weak};

use pyo3::prelude::*;

/// `O_NONBLOCK` of Linux: opening a FIFO must not wait for a writer.
const NON_BLOCKING: i32 = 0o4000;

/// `EMFILE` of Linux: the process has as many open files as it may.
const TOO_MANY_FILES: i32 = 24;

/// How many of the files that were opened most recently stay open.
static MOST_OPEN: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Those that are open, in the order in which they were opened or seen to be in use; some may
/// be gone.
static OPEN: Mutex<VecDeque<Weak<Shared>>> = Mutex::new(VecDeque::new());

/// How many may be in that list before those that are gone are taken out.
static MOST_LISTED: AtomicUsize = AtomicUsize::new(LEAST_LISTED);
const LEAST_LISTED: usize = 64;

/// How often the list is tried to be locked.
const MOST_TRIES: usize = 10_000;

#[doc = core_doc!(set_most_open_files)]
#[pyfunction]
pub fn set_most_open_files(count: usize) {
    MOST_OPEN.store(count, Ordering::Relaxed);
    shrink(count);
}

struct Shared {
    file: Mutex<Option<Arc<File>>>,
    /// Whether it was used since it was last considered for closing.
    is_used: AtomicBool,
}

/// A regular file that is open most of the time.
pub struct ReopenedFile {
    path: PathBuf,
    /// Device and inode.
    identity: (u64, u64),
    shared: Arc<Shared>,
}

impl ReopenedFile {
    /// Opens a regular file; anything else is refused without waiting for it.
    pub fn open(path: &Path) -> io::Result<(Self, Metadata)> {
        let file = open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let shared =
            Shared { file: Mutex::new(Some(Arc::new(file))), is_used: AtomicBool::new(false) };
        let shared = Arc::new(shared);
        keep(&shared);
        let identity = (metadata.dev(), metadata.ino());
        // The working directory may change before it is opened again.
        let path = std::path::absolute(path)?;
        Ok((Self { path, identity, shared }, metadata))
    }

    /// The open file.
    pub fn file(&self) -> io::Result<Arc<File>> {
        self.shared.is_used.store(true, Ordering::Relaxed);
        let opened = match self.shared.file.try_lock() {
            Ok(mut place) => match place.as_ref() {
                Some(file) => return Ok(Arc::clone(file)),
                None => {
                    let file = self.open_again()?;
                    *place = Some(Arc::clone(&file));
                    file
                }
            },
            // Another thread is opening or closing it.
            Err(TryLockError::WouldBlock | TryLockError::Poisoned(_)) => {
                return self.open_again();
            }
        };
        keep(&self.shared);
        Ok(opened)
    }

    fn open_again(&self) -> io::Result<Arc<File>> {
        let file = open(&self.path)?;
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            return Err(io::Error::other("another file has taken its place"));
        }
        Ok(Arc::new(file))
    }
}

/// Opens a file; others are closed if the process has too many.
fn open(path: &Path) -> io::Result<File> {
    loop {
        let opened = OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(path);
        match opened {
            Err(error) if error.raw_os_error() == Some(TOO_MANY_FILES) => {
                let count = list().map_or(0, |open| open.len());
                if count == 0 {
                    return Err(error);
                }
                shrink(count / 2);
            }
            other => return other,
        }
    }
}

/// The list of open files. It is locked for a moment only; but for ever in a child process whose
/// parent had it locked while it forked.
fn list() -> Option<MutexGuard<'static, VecDeque<Weak<Shared>>>> {
    (0..MOST_TRIES).find_map(|_| {
        let list = OPEN.try_lock().ok();
        if list.is_none() {
            std::thread::yield_now();
        }
        list
    })
}

/// Counts a file among those that are open, and closes others if these are too many.
fn keep(shared: &Arc<Shared>) {
    if let Some(mut open) = list() {
        if open.len() >= MOST_LISTED.load(Ordering::Relaxed) {
            open.retain(|one| one.strong_count() > 0);
            MOST_LISTED.store(LEAST_LISTED.max(2 * open.len()), Ordering::Relaxed);
        }
        open.push_back(Arc::downgrade(shared));
    }
    shrink(MOST_OPEN.load(Ordering::Relaxed));
}

/// Closes the files that were opened first and not used since, until so many are left.
fn shrink(most: usize) {
    let mut closed = Vec::new();
    if let Some(mut open) = list() {
        let mut patience = open.len();
        while open.len() > most {
            let Some(shared) = open.pop_front().and_then(|one| one.upgrade()) else { continue };
            if patience > 0 && shared.is_used.swap(false, Ordering::Relaxed) {
                patience -= 1;
                open.push_back(Arc::downgrade(&shared));
            } else {
                closed.push(shared);
            }
        }
    }
    for shared in closed {
        // A lock that is taken is that of a reader: the file is in use.
        let is_closed = shared.file.try_lock().map(|mut file| file.take()).is_ok();
        if !is_closed {
            if let Some(mut open) = list() {
                open.push_back(Arc::downgrade(&shared));
            }
        }
    }
}
