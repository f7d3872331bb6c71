//! The threads of a collector: one leads, others help where writing is slow.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::arena::{at_path, Arena, Plan};
use crate::drain::Reach;
use crate::files::Write;
use crate::pass::{Found, LiveSlot};
use crate::pool::Pool;
use crate::recording::{Failure, Limits, Recording};
use crate::register::Register;
use crate::sys;

const MOST_HELPERS: usize = 4;
/// Writing a chunk takes some 20 µs; where it takes so long, others may write meanwhile.
const SLOW_NS: u64 = 200_000;
/// After work, the leader looks again soon; then more and more seldom.
const BUSY: Duration = Duration::from_millis(1);
const CALM: Duration = Duration::from_millis(10);
const IDLE: Duration = Duration::from_millis(50);
/// Looks that find nothing are so many times as far apart as they take.
const LOOKS_APART: u64 = 20;
const BUSY_NS: u64 = 50_000_000;
const CALM_NS: u64 = 1_000_000_000;
/// Between attempts to write what a disk refuses, at the end.
const RETRY: Duration = Duration::from_millis(20);

/// What a recording holds.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    pub streams: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Event records that were lost and counted.
    pub lost: u64,
    /// Of those: the ones that no data stream tells.
    pub lost_unplaced: u64,
    pub overwritten: u64,
    pub problems: Vec<String>,
    /// Whether the size limit was reached.
    pub is_full: bool,
    /// Threads that may go on.
    pub running: Vec<LiveSlot>,
    /// Whether nothing is left in the arena, which is removed then.
    pub is_drained: bool,
    pub failure: Option<Failure>,
}

/// How far a recording is.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub bytes: u64,
    pub packets: u64,
    pub lost: u64,
    pub streams: u64,
    /// Threads with a slot.
    pub live: u32,
    /// Chunks that have memory, and those of them that are free.
    pub chunks: u32,
    pub free_chunks: u32,
    /// Whether the size limit was reached.
    pub is_full: bool,
    /// Whether a program took memory of the arena away.
    pub is_damaged: bool,
    pub failure: Option<Failure>,
}

impl Outcome {
    /// What is known of a recording now.
    pub fn of(recording: &Recording, is_drained: bool, running: Vec<LiveSlot>) -> Self {
        let tallies = &recording.tallies;
        let unplaced = recording.arena.shared().lost().load(Ordering::Relaxed);
        let mut problems = recording.problems();
        if recording.arena.guard().is_damaged() {
            let path = recording.arena.path().display();
            problems.push(format!("{path}: a program took memory of the arena away"));
        }
        Self {
            streams: tallies.streams.load(Ordering::Relaxed),
            packets: tallies.packets.load(Ordering::Relaxed),
            bytes: tallies.bytes.load(Ordering::Relaxed),
            lost: tallies.lost.load(Ordering::Relaxed).saturating_add(unplaced),
            lost_unplaced: unplaced,
            overwritten: recording.budget().overwritten(),
            problems,
            is_full: recording.was_full(),
            running,
            is_drained,
            failure: recording.failure(),
        }
    }
}

/// What the threads tell each other.
#[derive(Default)]
struct Signals {
    is_ending: AtomicBool,
    /// Helpers that may make a pass.
    wanted: Mutex<usize>,
    changed: Condvar,
}

impl Signals {
    fn wanted(&self) -> MutexGuard<'_, usize> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }
}

/// Takes full packets out of an arena, until it is closed.
pub struct Collector {
    recording: Arc<Recording>,
    register: Register,
    signals: Arc<Signals>,
    leader: Mutex<Option<JoinHandle<()>>>,
    process: u32,
    is_closed: AtomicBool,
}

impl Collector {
    /// Makes an arena for the trace in a directory.
    pub fn new(
        directory: &Path,
        shared_memory: &Path,
        plan: &Plan,
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let arena = Arena::make(shared_memory, directory, plan)?;
        let path = arena.path().to_owned();
        let made = Self::with_arena(directory, arena, plan.user, limits, write);
        if made.is_err() {
            // Nobody knows of it yet; the first error is the one to tell.
            let _ = std::fs::remove_file(path);
        }
        made
    }

    fn with_arena(
        directory: &Path,
        arena: Arena,
        user: u32,
        limits: Limits,
        write: Box<Write>,
    ) -> io::Result<Self> {
        let pool = Pool::new(&arena);
        let recording = Recording::new(arena, pool, directory, limits, write)?;
        let register = Register::new(directory);
        register.add(&recording.arena, user).map_err(|error| at_path(&error, register.path()))?;
        recording.keep_ahead();
        if let Some(error) = recording.stock().failure.take() {
            register.remove(recording.arena.path())?;
            return Err(at_path(&error, recording.arena.path()));
        }
        Ok(Self {
            recording: Arc::new(recording),
            register,
            signals: Arc::default(),
            leader: Mutex::new(None),
            process: std::process::id(),
            is_closed: AtomicBool::new(false),
        })
    }

    /// The arena and its trace.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Where the arena is.
    pub fn arena_path(&self) -> PathBuf {
        self.recording.arena.path().to_owned()
    }

    /// Begins to collect; returns when programs may begin to record.
    pub fn start(&self) -> io::Result<()> {
        let mut leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner);
        if leader.is_some() || self.is_closed.load(Ordering::Relaxed) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it was started before"));
        }
        let recording = Arc::clone(&self.recording);
        let signals = Arc::clone(&self.signals);
        let (tell, told) = std::sync::mpsc::channel();
        let lead = move || {
            let held = recording.arena.hold_life();
            let is_held = held.is_ok();
            // Who asked waits for it, so there is somebody to take it.
            let _ = tell.send(held);
            if is_held {
                Leader::new(recording, signals).run();
            }
        };
        let name = "vestige-collect".to_owned();
        let thread = sys::without_signals(|| thread::Builder::new().name(name).spawn(lead))?;
        told.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))?;
        *leader = Some(thread);
        Ok(())
    }

    /// How far the recording is.
    pub fn progress(&self) -> Progress {
        let tallies = &self.recording.tallies;
        let arena = &self.recording.arena;
        let unplaced = arena.shared().lost().load(Ordering::Relaxed);
        Progress {
            bytes: tallies.bytes.load(Ordering::Relaxed),
            packets: tallies.packets.load(Ordering::Relaxed),
            lost: tallies.lost.load(Ordering::Relaxed).saturating_add(unplaced),
            streams: tallies.streams.load(Ordering::Relaxed),
            live: self.recording.live.load(Ordering::Relaxed),
            chunks: self.recording.pool.ready(),
            free_chunks: Pool::free(arena),
            is_full: self.recording.was_full(),
            is_damaged: arena.guard().is_damaged(),
            failure: self.recording.failure(),
        }
    }

    /// Threads that have a slot and live.
    pub fn live_slots(&self) -> Vec<LiveSlot> {
        self.recording.live_slots()
    }

    /// Takes all threads of a process for ended.
    pub fn forget_process(&self, vpid: u32, pid_namespace: u64) {
        self.recording.forget_process(vpid, pid_namespace);
    }

    /// Writes all that there is, and ends the recording for programs that go on. What a disk
    /// refuses is tried again until the time is over, and stays in the arena then.
    pub fn close(&self, patience: Duration) -> Outcome {
        let deadline = Instant::now() + patience;
        // Once without it: programs that have just ended are drained while others go on.
        self.recording.pass(0, Reach::Complete);
        self.recording.set_closed();
        self.stop();
        let mut found = self.recording.pass(0, Reach::Snapshot);
        while found.stalled > 0 && Instant::now() < deadline {
            thread::sleep(RETRY);
            found = self.recording.pass(0, Reach::Snapshot);
        }
        let running = self.recording.live_slots();
        let is_drained = found.stalled == 0;
        if is_drained && !self.is_closed.swap(true, Ordering::AcqRel) {
            self.leave();
        }
        Outcome::of(&self.recording, is_drained, running)
    }

    /// Removes the arena, of which nothing is needed any more.
    fn leave(&self) {
        let path = self.recording.arena.path();
        let removed = self.recording.arena.remove().and_then(|()| self.register.remove(path));
        if let Err(error) = removed {
            if error.kind() != io::ErrorKind::NotFound {
                self.recording.add_problem(error.to_string());
            }
        }
    }

    /// Ends the threads.
    fn stop(&self) {
        self.signals.is_ending.store(true, Ordering::Release);
        self.signals.changed.notify_all();
        let shared = self.recording.arena.shared();
        shared.doorbell().fetch_add(1, Ordering::AcqRel);
        sys::futex_wake(shared.doorbell());
        let leader = self.leader.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = leader {
            if thread.join().is_err() {
                // What it left is written by who waits.
                self.recording.add_problem("a thread of the collector ended by itself".into());
            }
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        // A forked child has the memory but not the threads.
        if self.process == std::process::id() {
            self.recording.set_closed();
            self.stop();
        }
    }
}

/// The thread that looks at all slots, and its helpers.
struct Leader {
    recording: Arc<Recording>,
    signals: Arc<Signals>,
    helpers: Vec<JoinHandle<()>>,
    worked_at: u64,
    /// Where the next pass begins: not always with a slot that cannot be written.
    first: u32,
    seen_ns: u64,
    seen_chunks: u64,
    slow_until: Arc<AtomicU64>,
}

impl Leader {
    fn new(recording: Arc<Recording>, signals: Arc<Signals>) -> Self {
        Self {
            recording,
            signals,
            helpers: Vec::new(),
            worked_at: 0,
            first: 0,
            seen_ns: 0,
            seen_chunks: 0,
            slow_until: Arc::default(),
        }
    }

    fn run(mut self) {
        while !self.signals.is_ending() {
            if self.recording.now() < self.slow_until.load(Ordering::Relaxed) {
                self.call_helpers();
            }
            let started = self.recording.now();
            let found = self.recording.pass(self.first, Reach::Complete);
            self.first = if found.stalled > 0 { self.first.wrapping_add(1) % 65_536 } else { 0 };
            let spent = self.recording.now() - started;
            self.recording.keep_ahead();
            self.measure();
            self.rest(found, spent);
        }
        self.signals.changed.notify_all();
        for helper in self.helpers {
            if helper.join().is_err() {
                self.recording.add_problem("a thread of the collector ended by itself".into());
            }
        }
    }

    /// Whether packets are written slowly just now.
    fn measure(&mut self) {
        let tallies = &self.recording.tallies;
        let ns = tallies.write_ns.load(Ordering::Relaxed);
        let chunks = tallies.chunks.load(Ordering::Relaxed);
        let (new_ns, new_chunks) = (ns - self.seen_ns, chunks - self.seen_chunks);
        if new_chunks > 0 && new_ns / new_chunks > SLOW_NS {
            self.slow_until.store(self.recording.now() + 1_000_000_000, Ordering::Relaxed);
        }
        (self.seen_ns, self.seen_chunks) = (ns, chunks);
    }

    /// Lets as many threads help as there are other slots with something to write.
    fn call_helpers(&mut self) {
        let wanted = self.recording.pressed_slots().saturating_sub(1).min(MOST_HELPERS);
        while self.helpers.len() < wanted {
            let recording = Arc::clone(&self.recording);
            let signals = Arc::clone(&self.signals);
            let place = self.helpers.len() as u32 + 1;
            let name = format!("vestige-help-{place}");
            let help = move || help(&recording, &signals, place);
            match thread::Builder::new().name(name).spawn(help) {
                Ok(helper) => self.helpers.push(helper),
                Err(_) => break,
            }
        }
        *self.signals.wanted() = wanted.min(self.helpers.len());
        self.signals.changed.notify_all();
    }

    /// Waits for work: threads ring when half of their ring is full.
    fn rest(&mut self, found: Found, spent: u64) {
        let now = self.recording.now();
        if found.work > 0 {
            self.worked_at = now;
        }
        let since = now - self.worked_at;
        let time = match since {
            0..BUSY_NS => BUSY,
            BUSY_NS..CALM_NS => CALM,
            _ => IDLE,
        };
        // Looking at thousands of slots in vain takes a while itself.
        let looked = if found.work == 0 { spent * LOOKS_APART } else { 0 };
        let time = time.max(Duration::from_nanos(looked)).min(IDLE);
        let shared = self.recording.arena.shared();
        let bell = shared.doorbell().load(Ordering::Acquire);
        if self.signals.is_ending() {
            return;
        }
        shared.asleep().store(1, Ordering::SeqCst);
        sys::futex_wait(shared.doorbell(), bell, time);
        shared.asleep().store(0, Ordering::SeqCst);
    }
}

/// Makes a pass each time that the leader wants one.
fn help(recording: &Recording, signals: &Signals, place: u32) {
    loop {
        let mut wanted = signals.wanted();
        while *wanted == 0 && !signals.is_ending() {
            wanted = signals.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner);
        }
        if signals.is_ending() {
            return;
        }
        *wanted -= 1;
        drop(wanted);
        let slots = recording.pool.slots_ready().max(1);
        // Where slots are in use, they are the first ones; each begins at another.
        recording.pass(place % slots, Reach::Complete);
        recording.keep_ahead();
    }
}
