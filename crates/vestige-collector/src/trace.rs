//! The trace that all arenas of a recording are written to.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Instant;

use crate::budget::{Budget, FILE_BYTES};
use crate::file_error::at_path;
use crate::files::{Files, Write};
use crate::indexes::Indexes;
use crate::loaded_state::{LoadedState, Target};
use crate::owner::Place;
use crate::recording::{Failure, Limits, Tallies};
use crate::rollover::Rollover;
use crate::state::States;
use crate::streams::Streams;
use crate::timers::Timers;
use crate::unreached::AllUnreached;

/// Problems that are told by name; the rest is only counted.
const MOST_PROBLEMS: usize = 100;
/// Of those that differ in numbers only: a program can say that it is any process.
const MOST_ALIKE: usize = 8;
/// How long a disk counts as slow that was so once.
const SLOW_NS: u64 = 1_000_000_000;
/// How long nothing is written after a failure.
pub const RETRY_NS: u64 = 20_000_000;

/// The files of a recording, and what is counted of them.
pub struct Trace {
    pub files: Files,
    pub indexes: Indexes,
    pub tallies: Tallies,
    pub uuid: [u8; 16],
    pub rollover: Rollover,
    /// What the files of CPUs are called.
    pub channel: String,
    pub timers: Timers,
    /// Whether nothing is written but snapshots.
    pub is_kept: bool,
    pub retry_at: AtomicU64,
    slow_until: AtomicU64,
    is_damaged: AtomicBool,
    streams: Mutex<Streams>,
    budget: Mutex<Budget>,
    is_limited: bool,
    was_full: AtomicBool,
    /// How many arenas share the room that is left.
    sharers: AtomicU64,
    problems: Mutex<Problems>,
    unreached: Mutex<AllUnreached>,
    failure: Mutex<Option<Failure>>,
    began: Instant,
    /// For chunks that begin later.
    pub states: States,
    /// Dumps of the collector's own.
    pub loaded_state: LoadedState,
    /// Whoever drains a slot has it with others; who ends a chunk has it alone.
    gate: RwLock<()>,
    /// Whether records are thrown away in place of being written.
    is_discarding: AtomicBool,
    /// Whether nothing is written for the moment.
    is_held: AtomicBool,
    /// Until when viewers were told that all is in files.
    shown: AtomicU64,
}

/// What people should know, each once.
#[derive(Default)]
struct Problems {
    texts: Vec<String>,
    /// How many there are of a kind, and how many of those are not in `texts`.
    kinds: Vec<(String, usize, usize)>,
}

/// A text without its numbers.
fn kind_of(text: &str) -> String {
    let parts = text.split(|one: char| one.is_ascii_digit()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("N")
}

impl Problems {
    fn add(&mut self, text: String) {
        if self.texts.contains(&text) {
            return;
        }
        let kind = kind_of(&text);
        let known = self.kinds.iter_mut().find(|one| one.0 == kind);
        match known {
            Some((_, count, more)) if *count == MOST_ALIKE => *more = more.saturating_add(1),
            _ if self.texts.len() == MOST_PROBLEMS => {}
            Some((_, count, _)) => {
                *count += 1;
                self.texts.push(text);
            }
            None => {
                self.kinds.push((kind, 1, 0));
                self.texts.push(text);
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let more = self.kinds.iter().filter(|one| one.2 > 0);
        let more = more.map(|(kind, _, more)| format!("and {more} times the like: {kind}"));
        self.texts.iter().cloned().chain(more).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const CHANNEL: &str = "channel0";

/// What the files of a directory take, and those of overwrite mode with their numbers.
fn taken(directory: &Path) -> io::Result<(u64, Vec<(u64, u64)>)> {
    let (mut bytes, mut rings) = (0_u64, Vec::new());
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        // An arena is memory that happens to lie there.
        if name.starts_with(".arena") {
            continue;
        }
        let number = name.strip_prefix("ring-").and_then(|number| number.parse().ok());
        let size = entry.metadata()?.len();
        // As it is counted where files are made: a block, and what is in the file.
        let size = if number.is_some() { FILE_BYTES + size } else { size.max(FILE_BYTES) };
        bytes = bytes.saturating_add(size);
        rings.extend(number.map(|number| (number, size)));
    }
    rings.sort_unstable();
    Ok((bytes, rings))
}

/// The name of a channel, or that of LTTng's first one.
fn named(channel: String) -> String {
    if channel.is_empty() {
        CHANNEL.to_owned()
    } else {
        channel
    }
}

impl Trace {
    /// The name of the nth data file of a stream.
    pub fn data_name(&self, instance: u64, number: u32) -> String {
        self.rollover.name(&self.channel, instance, number)
    }

    /// Opens the directory of a trace.
    pub fn open(
        place: impl Into<Place>,
        uuid: [u8; 16],
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let place = place.into();
        let files = Files::open(place.clone(), write)?;
        let found = place.with_rights(|| taken(&place.path));
        let (bytes, rings) = found.map_err(|error| at_path(&error, &place.path))?;
        let mut budget = Budget::new(limits.max_bytes, limits.is_overwriting, bytes);
        budget.begin_after(rings);
        Ok(Self {
            files,
            indexes: Indexes::open(&place),
            tallies: Tallies::default(),
            uuid,
            rollover: limits.rollover,
            channel: named(limits.channel),
            timers: limits.timers,
            is_kept: limits.is_kept,
            retry_at: AtomicU64::new(0),
            slow_until: AtomicU64::new(0),
            is_damaged: AtomicBool::new(false),
            streams: Mutex::default(),
            budget: Mutex::new(budget),
            is_limited: limits.max_bytes != 0 && !limits.is_overwriting,
            was_full: AtomicBool::new(false),
            sharers: AtomicU64::new(0),
            problems: Mutex::default(),
            unreached: Mutex::default(),
            failure: Mutex::default(),
            began: Instant::now(),
            states: States::default(),
            loaded_state: LoadedState::default(),
            gate: RwLock::default(),
            is_discarding: AtomicBool::new(false),
            is_held: AtomicBool::new(false),
            shown: AtomicU64::new(0),
        })
    }

    /// Keeps chunks of the trace from ending while something is written.
    pub fn writing(&self) -> RwLockReadGuard<'_, ()> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps all others from writing.
    pub fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether records are thrown away.
    pub fn is_discarding(&self) -> bool {
        self.is_discarding.load(Ordering::Relaxed)
    }

    /// Throws records away from now on, or writes them again.
    pub fn set_discarding(&self, is_so: bool) {
        self.is_discarding.store(is_so, Ordering::Relaxed);
    }

    /// Notes until when viewers are told that all is in files; whether that is news.
    pub fn begin_showing(&self, until: u64) -> bool {
        self.shown.fetch_max(until, Ordering::Relaxed) < until
    }

    /// Until when viewers were told that all is in files: no packet begins before.
    pub fn shown(&self) -> u64 {
        self.shown.load(Ordering::Relaxed)
    }

    /// Nanoseconds since the trace was opened.
    pub fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Where dumps of its own are written.
    pub const fn target(&self) -> Target<'_> {
        Target { files: &self.files, indexes: &self.indexes, uuid: &self.uuid }
    }

    /// The data streams.
    pub fn streams(&self) -> MutexGuard<'_, Streams> {
        lock(&self.streams)
    }

    /// Whether what is in arenas must have room in files.
    pub const fn is_limited(&self) -> bool {
        self.is_limited
    }

    /// The size of the recording.
    pub fn budget(&self) -> MutexGuard<'_, Budget> {
        lock(&self.budget)
    }

    /// Counts an arena in; its number, from 0 on.
    pub fn join(&self) -> u64 {
        self.sharers.fetch_add(1, Ordering::AcqRel)
    }

    /// Chunks that an arena can hand out so that all that is in them has room.
    ///
    /// Each arena has the same share: together they never promise more than there is, and
    /// none has to know what the others do. What one leaves is for all when it is written.
    pub fn allowed_chunks(&self, chunk_bytes: u32) -> u64 {
        let all = self.budget().chunks(chunk_bytes);
        if all == u64::MAX {
            return all;
        }
        all / self.sharers.load(Ordering::Acquire).max(1)
    }

    /// Notes something that people should know.
    pub fn add_problem(&self, text: String) {
        lock(&self.problems).add(text);
    }

    /// What people should know.
    pub fn problems(&self) -> Vec<String> {
        lock(&self.problems).lines()
    }

    /// Programs that are not recorded.
    pub fn unreached(&self) -> MutexGuard<'_, AllUnreached> {
        lock(&self.unreached)
    }

    /// Notes a failure to write; the first one is told.
    pub fn add_failure(&self, error: &io::Error, name: &str) {
        self.retry_at.store(self.now() + RETRY_NS, Ordering::Relaxed);
        lock(&self.failure).get_or_insert_with(|| Failure {
            errno: error.raw_os_error(),
            text: error.to_string(),
            path: self.path_of(name),
        });
    }

    /// The path of a file of the trace.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.files.path_of(name)
    }

    /// The first failure to write.
    pub fn failure(&self) -> Option<Failure> {
        lock(&self.failure).clone()
    }

    /// Leaves what threads record in the arena for the moment, or goes on.
    pub fn hold(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Whether a file could not be written just now, or is not to be.
    pub fn is_stalled(&self) -> bool {
        if self.is_held.load(Ordering::Relaxed) {
            return true;
        }
        let retry_at = self.retry_at.load(Ordering::Relaxed);
        retry_at != 0 && self.now() < retry_at
    }

    /// Whether writing has held the collector up just now.
    pub fn is_slow(&self) -> bool {
        self.now() < self.slow_until.load(Ordering::Relaxed)
    }

    /// Notes that it has.
    pub fn set_slow(&self) {
        self.slow_until.store(self.now() + SLOW_NS, Ordering::Relaxed);
    }

    /// Whether programs damaged an arena.
    pub fn was_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Notes that they did.
    pub fn set_damaged(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }

    /// Whether the size limit was ever reached.
    pub fn was_full(&self) -> bool {
        self.was_full.load(Ordering::Relaxed)
    }

    /// Notes that it was.
    pub fn set_full(&self) {
        self.was_full.store(true, Ordering::Relaxed);
    }
}
