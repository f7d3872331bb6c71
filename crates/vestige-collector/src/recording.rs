//! All that the threads of a collector share.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::account::Account;
use crate::arena::Arena;
use crate::budget::{Budget, FILE_BYTES};
use crate::classes::Classes;
use crate::files::{Files, Write};
use crate::layout::{CLOSED, FULL};
use crate::pool::{Pool, Stock};
use crate::streams::{Identity, Streams};

/// Problems that are told by name; the rest is only counted.
const MOST_PROBLEMS: usize = 100;
/// How long nothing is written after a failure.
pub const RETRY_NS: u64 = 20_000_000;

/// What limits a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Most bytes of all files; 0: no limit.
    pub max_bytes: u64,
    /// Whether the oldest packets make room for new ones.
    pub is_overwriting: bool,
}

/// What the collector knows of a slot in use.
#[derive(Default)]
pub struct SlotState {
    pub identity: Identity,
    pub account: Account,
    /// Chunks that the slot has, as far as they are known.
    pub held: Vec<u32>,
    pub given: u32,
    pub returned: u32,
    pub consumed: u32,
    /// The present chunk and since when, to find rings that are quiet.
    pub seen: u64,
    pub seen_at: u64,
    /// Its numbers make no sense: nothing of it is believed any more.
    pub is_damaged: bool,
    /// Somebody who knows says that the process has ended.
    pub is_gone: bool,
}

/// The first failure of a file.
#[derive(Clone, Debug)]
pub struct Failure {
    pub errno: Option<i32>,
    pub text: String,
    pub path: PathBuf,
}

/// Counts of what was written.
#[derive(Default)]
pub struct Tallies {
    pub bytes: AtomicU64,
    pub packets: AtomicU64,
    pub lost: AtomicU64,
    pub streams: AtomicU64,
    pub chunks: AtomicU64,
    /// Time in which packets were written, to see whether a disk is slow.
    pub write_ns: AtomicU64,
}

/// An arena, and the trace that its records go to.
pub struct Recording {
    pub arena: Arena,
    pub pool: Pool,
    pub files: Files,
    pub classes: Classes,
    pub tallies: Tallies,
    pub uuid: [u8; 16],
    pub retry_at: AtomicU64,
    /// When a pass looks at all slots again.
    pub look_at: AtomicU64,
    pub is_short: AtomicBool,
    /// Threads with a slot.
    pub live: AtomicU32,
    slots: Box<[Mutex<Option<Box<SlotState>>>]>,
    stock: Mutex<Stock>,
    streams: Mutex<Streams>,
    budget: Mutex<Budget>,
    is_limited: bool,
    was_full: AtomicBool,
    problems: Mutex<Vec<String>>,
    failure: Mutex<Option<Failure>>,
    began: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the files of a directory take, and the largest number of a file of overwrite mode.
fn taken(directory: &Path) -> io::Result<(u64, u64)> {
    let (mut bytes, mut ring) = (0_u64, 0);
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // An arena is memory that happens to lie there.
        if !name.starts_with(".arena") {
            bytes = bytes.saturating_add(entry.metadata()?.len().max(FILE_BYTES));
        }
        let number = name.strip_prefix("ring-").and_then(|number| number.parse().ok());
        ring = ring.max(number.unwrap_or(0));
    }
    Ok((bytes, ring))
}

impl Recording {
    /// Joins an arena with the directory of a trace.
    pub fn new(
        arena: Arena,
        pool: Pool,
        directory: &Path,
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let files = Files::open(directory, write)?;
        let (bytes, ring) =
            taken(directory).map_err(|error| crate::arena::at_path(&error, directory))?;
        let mut budget = Budget::new(limits.max_bytes, limits.is_overwriting, bytes);
        budget.begin_after(ring);
        let count = arena.geometry().slot_count;
        let first_class = arena.control().first_class().load(Ordering::Relaxed);
        Ok(Self {
            uuid: arena.uuid(),
            arena,
            pool,
            files,
            classes: Classes::new(first_class),
            tallies: Tallies::default(),
            retry_at: AtomicU64::new(0),
            look_at: AtomicU64::new(0),
            is_short: AtomicBool::new(false),
            live: AtomicU32::new(0),
            slots: (0..count).map(|_| Mutex::new(None)).collect(),
            stock: Mutex::default(),
            streams: Mutex::default(),
            budget: Mutex::new(budget),
            is_limited: limits.max_bytes != 0 && !limits.is_overwriting,
            was_full: AtomicBool::new(false),
            problems: Mutex::default(),
            failure: Mutex::default(),
            began: Instant::now(),
        })
    }

    /// Nanoseconds since the recording was opened.
    pub fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// The state of a slot, unless another thread works on it.
    pub fn try_slot(&self, slot: u32) -> Option<MutexGuard<'_, Option<Box<SlotState>>>> {
        self.slots.get(slot.wrapping_sub(1) as usize)?.try_lock().ok()
    }

    /// The state of a slot.
    pub fn slot(&self, slot: u32) -> Option<MutexGuard<'_, Option<Box<SlotState>>>> {
        self.slots.get(slot.wrapping_sub(1) as usize).map(lock)
    }

    /// Free chunks, for one thread at a time.
    pub fn stock(&self) -> MutexGuard<'_, Stock> {
        lock(&self.stock)
    }

    /// The data streams.
    pub fn streams(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }

    /// Whether what is in the arena must have room in files.
    pub const fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// The size of the recording.
    pub fn budget(&self) -> MutexGuard<'_, Budget> {
        lock(&self.budget)
    }

    /// Notes something that people should know.
    pub fn add_problem(&self, text: String) {
        let mut problems = lock(&self.problems);
        if problems.len() < MOST_PROBLEMS && !problems.contains(&text) {
            problems.push(text);
        }
    }

    /// What people should know.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.problems).clone()
    }

    /// Notes a failure to write; the first one is told.
    pub fn add_failure(&self, error: &io::Error, name: &str) {
        self.retry_at.store(self.now() + RETRY_NS, Ordering::Relaxed);
        lock(&self.failure).get_or_insert_with(|| Failure {
            errno: error.raw_os_error(),
            text: error.to_string(),
            path: self.files.path_of(name),
        });
    }

    /// The first failure to write.
    pub fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }

    /// Whether a file could not be written just now.
    pub fn is_stalled(&self) -> bool {
        let retry_at = self.retry_at.load(Ordering::Relaxed);
        retry_at != 0 && self.now() < retry_at
    }

    /// Tells programs to record nothing more.
    pub fn set_closed(&self) {
        self.arena.control().state().fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Whether the size limit was ever reached.
    pub fn was_full(&self) -> bool {
        self.was_full.load(Ordering::Relaxed)
    }

    /// Keeps chunks, slots and memory for class texts ahead of need.
    pub fn keep_ahead(&self) {
        let now = self.now();
        let mut stock = self.stock();
        let allowed = self.budget().chunks(self.arena.geometry().chunk_bytes);
        let has_chunks = stock.keep_chunks(&self.pool, &self.arena, allowed, now);
        let live = self.live.load(Ordering::Relaxed);
        let is_short = self.pool.is_short(&stock, &self.arena, allowed);
        self.is_short.store(is_short, Ordering::Relaxed);
        stock.keep_slots(&self.pool, &self.arena, live, now);
        if let Some(error) = stock.failure.as_ref() {
            let path = self.arena.path().display();
            self.add_problem(format!("{path}: the arena cannot grow: {error}"));
        }
        drop(stock);
        if let Err(error) = self.classes.keep_room(&self.arena) {
            let path = self.arena.path().display();
            self.add_problem(format!("{path}: no memory for event classes: {error}"));
        }
        let state = self.arena.control().state();
        if allowed == u64::MAX || has_chunks {
            state.fetch_and(!FULL, Ordering::AcqRel);
        } else {
            self.was_full.store(true, Ordering::Relaxed);
            state.fetch_or(FULL, Ordering::AcqRel);
        }
    }
}
