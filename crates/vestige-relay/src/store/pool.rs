//! Open files: no more than a limit at once; the others are opened again when they are needed.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sys;

/// Files that a reader holds: data and their index.
const HELD: usize = 2;

#[derive(Debug, Default)]
struct Open {
    files: HashMap<u64, (Arc<File>, u64)>,
    next: u64,
    turn: u64,
}

/// Files that are open.
#[derive(Debug)]
pub struct Pool {
    most: usize,
    most_held: usize,
    held: AtomicUsize,
    open: Mutex<Open>,
}

/// The right of a reader to hold two files open, whatever else is needed.
#[derive(Debug)]
pub struct Hold(Arc<Pool>);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.held.fetch_sub(HELD, Ordering::Relaxed);
    }
}

impl Pool {
    /// Keeps so many files open, but at least one, and half as many again for readers, or those of
    /// one reader.
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        let most_held = (most / 2).max(HELD);
        Self { most, most_held, held: AtomicUsize::new(0), open: Mutex::default() }
    }

    /// Lets a reader hold two files, if there are descriptors left for readers.
    pub fn hold(self: &Arc<Self>) -> Option<Hold> {
        let hold = Hold(Arc::clone(self));
        // Where there are too many, it is given back at once.
        (self.held.fetch_add(HELD, Ordering::Relaxed) + HELD <= self.most_held).then_some(hold)
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a file of a directory, without the bytes of one that is there already.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn create(
        self: &Arc<Self>,
        directory: &Arc<File>,
        name: PathBuf,
    ) -> io::Result<PooledFile> {
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC;
        let file = sys::open_at(directory, &name, flags)?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino());
        let key = {
            let mut open = self.open();
            open.next += 1;
            open.next
        };
        self.keep(key, Arc::new(file));
        let directory = Arc::clone(directory);
        let pool = Arc::clone(self);
        let is_replaced = AtomicBool::new(false);
        Ok(PooledFile { key, name, directory, identity, pool, is_replaced })
    }

    fn keep(&self, key: u64, file: Arc<File>) {
        let mut open = self.open();
        if open.files.len() >= self.most {
            let oldest = open.files.iter().min_by_key(|(_, (_, turn))| *turn).map(|(key, _)| *key);
            oldest.and_then(|key| open.files.remove(&key));
        }
        open.turn += 1;
        let turn = open.turn;
        open.files.insert(key, (file, turn));
    }

    fn find(&self, key: u64) -> Option<Arc<File>> {
        let mut open = self.open();
        open.turn += 1;
        let turn = open.turn;
        let (file, used) = open.files.get_mut(&key)?;
        *used = turn;
        Some(Arc::clone(file))
    }
}

/// A file that is opened when it is needed.
#[derive(Debug)]
pub struct PooledFile {
    key: u64,
    name: PathBuf,
    directory: Arc<File>,
    identity: (u64, u64),
    pool: Arc<Pool>,
    is_replaced: AtomicBool,
}

impl PooledFile {
    /// Another file gets its name: it is not opened again. Numbers of inodes are used again, too.
    pub fn set_replaced(&self) {
        self.is_replaced.store(true, Ordering::Relaxed);
    }

    /// The file.
    ///
    /// # Errors
    ///
    /// It cannot be opened again, or another has its name.
    pub fn get(&self) -> io::Result<Arc<File>> {
        if let Some(file) = self.pool.find(self.key) {
            return Ok(file);
        }
        if self.is_replaced.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = sys::open_at(&self.directory, &self.name, libc::O_RDWR)?;
        let metadata = file.metadata()?;
        if (metadata.dev(), metadata.ino()) != self.identity {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = Arc::new(file);
        self.pool.keep(self.key, Arc::clone(&file));
        Ok(file)
    }

    /// Its name in its directory.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Which it is among all files.
    pub fn key(&self) -> u64 {
        self.key
    }
}

impl Drop for PooledFile {
    fn drop(&mut self) {
        self.pool.open().files.remove(&self.key);
    }
}
