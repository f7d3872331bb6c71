//! An arena that is collected: all that the threads of a collector share of it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::account::Account;
use crate::arena::Arena;
use crate::classes::Classes;
use crate::drain::Group;
use crate::file_error::at_path;
use crate::files::METADATA;
use crate::kept::Left;
use crate::layout::{CLOSED, FULL};
use crate::pool::{Most, Pool, Stock};
use crate::rollover::Rollover;
use crate::streams::Identity;
use crate::timers::Timers;
use crate::trace::Trace;

/// A start waits for so many chunks and slots.
const FIRST_CHUNKS: u64 = 8;
const FIRST_SLOTS: u32 = 128;
/// As `MOST_TO_GO_ON` in `tracer/arena/waiting.c`.
const MOST_TO_GO_ON: u32 = 64;
/// A program that is told to record soon has two: the one that tells what is loaded, and its own.
const THREADS_OF_A_PROGRAM: u32 = 2;
/// For so many threads that may begin there are chunks ahead of need, besides those for others.
const MOST_EXPECTED: u32 = 512;
/// One in each nanosecond, for months.
const MOST_LOSSES: u64 = 1 << 53;

/// What limits a recording.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Most bytes of all files; 0: no limit.
    pub max_bytes: u64,
    /// Whether the oldest packets make room for new ones.
    pub is_overwriting: bool,
    /// Of the files of each stream.
    pub rollover: Rollover,
    pub timers: Timers,
    /// What the files of CPUs are called; empty: as LTTng calls those of its first channel.
    pub channel: String,
    /// Whether nothing is written but snapshots.
    pub is_kept: bool,
}

impl Limits {
    /// Those that an arena was made with.
    #[must_use]
    pub fn of(arena: &Arena) -> Self {
        let accounts = arena.accounts();
        let max_bytes = accounts.control().max_bytes().load(Ordering::Relaxed);
        let (rollover, timers) = accounts.wishes();
        Self {
            max_bytes,
            is_overwriting: arena.is_overwriting(),
            rollover,
            timers,
            channel: accounts.channel(),
            is_kept: accounts.is_kept(),
        }
    }
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
    /// The losses that no packet can tell are counted among those without a slot.
    pub is_counted: bool,
    /// Somebody who knows says that the process has ended.
    pub is_gone: bool,
    /// Where rings overwrite: what was taken out of the ring, and is not in a file yet.
    pub taken: Option<Group>,
    /// A collector before may have taken something.
    pub is_adopted: bool,
    /// Its thread has ended, and what it has recorded stays for snapshots.
    pub is_left: bool,
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
    /// Packets that were given up for newer ones.
    pub lost_packets: AtomicU64,
    /// Of the lost event records: those of threads that never had a packet.
    pub lost_unbegun: AtomicU64,
}

/// An arena, and the trace that its records go to.
pub struct Recording {
    pub arena: Arena,
    pub pool: Pool,
    pub classes: Classes,
    /// When a pass looks at all slots again.
    pub look_at: AtomicU64,
    /// So many slots were in use at a time, or may have been.
    pub known_slots: AtomicU32,
    pub trace: Arc<Trace>,
    /// Of the arena among those of the trace, from 0 on.
    pub number: u64,
    pub is_short: AtomicBool,
    /// Threads share all chunks, since they have no more than are of use.
    pub is_crowded: AtomicBool,
    /// Free chunks for which a thread goes on that waits, as `tracer/arena/waiting.c` has it:
    /// for fewer it would soon wait again.
    pub chunks_to_go_on: u32,
    /// Threads with a slot.
    pub live: AtomicU32,
    /// Programs that were told to record, if somebody knows.
    programs: AtomicU32,
    /// Of these, threads that wait for a chunk.
    pub waiting: AtomicU32,
    slots: Box<[Mutex<Option<Box<SlotState>>>]>,
    /// Where nothing is written but snapshots: what threads have left.
    pub left: Mutex<Left>,
    stock: Mutex<Stock>,
    /// How many programs were read of that are not recorded.
    unreached: Mutex<u32>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn chunks_to_go_on(arena: &Arena) -> u32 {
    // What there is room for may be fewer than these.
    if arena.accounts().control().max_bytes().load(Ordering::Relaxed) != 0 {
        return 1;
    }
    let geometry = arena.geometry();
    geometry.ring_chunks.min(geometry.chunk_count / 32).clamp(1, MOST_TO_GO_ON)
}

impl Recording {
    /// Joins an arena with a trace.
    pub fn new(arena: Arena, pool: Pool, trace: Arc<Trace>, first_class: u32) -> Self {
        let count = arena.geometry().slot_count;
        Self {
            chunks_to_go_on: chunks_to_go_on(&arena),
            arena,
            pool,
            classes: Classes::new(first_class),
            look_at: AtomicU64::new(0),
            known_slots: AtomicU32::new(0),
            number: trace.join(),
            trace,
            is_short: AtomicBool::new(false),
            is_crowded: AtomicBool::new(false),
            live: AtomicU32::new(0),
            programs: AtomicU32::new(0),
            waiting: AtomicU32::new(0),
            slots: (0..count).map(|_| Mutex::new(None)).collect(),
            left: Mutex::default(),
            stock: Mutex::default(),
            unreached: Mutex::default(),
        }
    }

    /// Goes on where a collector was killed, or has handed the arena over.
    pub fn go_on(&self, directory: &Path) -> io::Result<()> {
        self.classes
            .resume(&self.arena, &self.trace.files)
            .map_err(|error| at_path(&error, &directory.join(METADATA)))?;
        self.know_all_slots();
        self.adopt();
        Ok(())
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

    /// A count of lost records as a program has it; 0 where there cannot be so many.
    pub fn possible_losses(&self, lost: u64) -> u64 {
        if lost <= MOST_LOSSES {
            return lost;
        }
        let path = self.arena.path().display();
        self.trace.set_damaged();
        self.trace.add_problem(format!(
            "{path}: the arena is damaged: it counts more lost events than there can be"
        ));
        0
    }

    /// Records that threads without a slot have lost.
    pub fn unplaced(&self) -> u64 {
        self.possible_losses(self.arena.shared().lost().load(Ordering::Relaxed))
    }

    /// Tells programs to record nothing more.
    pub fn set_closed(&self) {
        self.arena.control().state().fetch_or(CLOSED, Ordering::AcqRel);
    }

    /// Whether they were told so.
    pub fn is_closed(&self) -> bool {
        self.arena.control().state().load(Ordering::Relaxed) & CLOSED != 0
    }

    /// How many chunks are of use to threads.
    ///
    /// Where they wait for the collector, more of them make nothing faster. If the disk is slow,
    /// they are what threads go on with; and where no thread waits, each chunk less is a loss.
    fn useful_chunks(&self, threads: u32) -> u64 {
        let waits = self.arena.accounts().control().wait_ns().load(Ordering::Relaxed) != 0;
        if !waits || self.trace.is_slow() || self.trace.is_stalled() {
            return u64::MAX;
        }
        Pool::useful(&self.arena, threads)
    }

    /// Gives back memory that was of use when there was more to write.
    pub fn give_memory_back(&self) {
        self.stock().give_memory_back(&self.pool, &self.arena, self.expected_threads());
    }

    /// Keeps memory for the first records of so many programs, which may begin at once.
    pub fn expect(&self, programs: u32) {
        self.programs.store(programs, Ordering::Relaxed);
        self.keep_ahead();
    }

    /// How many threads of programs may begin that have been told to record.
    fn expected_threads(&self) -> u32 {
        let threads = self.programs.load(Ordering::Relaxed).saturating_mul(THREADS_OF_A_PROGRAM);
        threads.saturating_sub(self.live.load(Ordering::Relaxed)).min(MOST_EXPECTED)
    }

    /// Reads of programs that are not recorded.
    fn note_unreached(&self) {
        self.trace.unreached().read(&self.arena, &mut lock(&self.unreached));
    }

    /// As above, at the end.
    pub fn note_last_unreached(&self) {
        self.trace.unreached().read_rest(&self.arena, &mut lock(&self.unreached));
    }

    /// Makes what the first thread needs; the collector makes more while programs start.
    pub fn make_first(&self) {
        // Those of CPUs are needed as soon as a thread runs there.
        let slots = if self.arena.has_cpu_rings() { u32::MAX } else { FIRST_SLOTS };
        self.keep_most_ahead(FIRST_CHUNKS, slots);
    }

    /// Keeps chunks, slots and memory for class texts ahead of need.
    pub fn keep_ahead(&self) {
        self.note_unreached();
        self.keep_most_ahead(u64::MAX, u32::MAX);
    }

    fn keep_most_ahead(&self, chunks: u64, slots: u32) {
        let now = self.trace.now();
        let mut stock = self.stock();
        let allowed = self.trace.allowed_chunks(self.arena.geometry().chunk_bytes);
        let live = self.live.load(Ordering::Relaxed);
        // What the last pass has counted may be old: so many slots were in use at a time.
        let high = self.arena.shared().slots_high().load(Ordering::Relaxed);
        let threads = high.min(self.pool.slots_ready()).max(live);
        let memory = Pool::most_with_memory(&self.arena, threads);
        let waiting = self.waiting.load(Ordering::Relaxed).saturating_add(self.expected_threads());
        let most = Most { allowed, useful: self.useful_chunks(threads), memory, waiting };
        let at_most = Most { useful: most.useful.min(chunks), ..most };
        let has_chunks = stock.keep_chunks(&self.pool, &self.arena, at_most, now);
        let is_short = self.pool.is_short(&stock, &self.arena, most);
        self.is_short.store(is_short, Ordering::Relaxed);
        self.is_crowded.store(self.pool.is_crowded(&stock, most), Ordering::Relaxed);
        stock.keep_slots(&self.pool, &self.arena, live, slots, now);
        if let Some(error) = stock.failure.as_ref() {
            let path = self.arena.path().display();
            self.trace.add_problem(format!("{path}: the arena cannot grow: {error}"));
        }
        drop(stock);
        if let Err(error) = self.classes.keep_room(&self.arena) {
            let path = self.arena.path().display();
            self.trace.add_problem(format!("{path}: no memory for event classes: {error}"));
        }
        let state = self.arena.control().state();
        if allowed == u64::MAX || has_chunks {
            state.fetch_and(!FULL, Ordering::AcqRel);
        } else {
            self.trace.set_full();
            state.fetch_or(FULL, Ordering::AcqRel);
        }
    }
}
