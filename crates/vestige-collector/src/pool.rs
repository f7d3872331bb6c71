//! Free chunks and slots: stacks that all programs of the recording take from.
//!
//! Memory is given to a chunk or a slot before it becomes free, so that no store of a program
//! can fail; the collector keeps some ahead. It believes nothing that a stack says: who owns a
//! chunk stands in a table of its own.

use std::collections::{HashSet, VecDeque};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::arena::Arena;
use crate::mapping::PAGE;
use crate::sys;

/// Nobody's: in the pool, or taken by a thread that has not told it yet.
pub const NOBODY: u32 = 0;
/// Kept out of the pool by the collector.
pub const WITHHELD: u32 = u32::MAX;
/// Programs that change a stack all the time, on purpose, do not stop the collector.
const MOST_ATTEMPTS: u32 = 10_000;
/// Chunks and slots that are free ahead of need, and how many are made at once.
const FREE_CHUNKS: u32 = 32;
/// With more than so many, a few short programs have come and gone: nothing is made for that.
const ENOUGH_CHUNKS: u32 = 24;
const CHUNKS_AT_ONCE: u32 = 32;
/// Rings that have memory for as many chunks as they may have. Where more threads are busy,
/// the collector is not faster for having more chunks ahead of it, and threads are slower: each
/// chunk costs a process a page fault when it is first used there.
const WHOLE_RINGS: u64 = 4;
/// Each thread that has a slot fills one, and goes on to the next.
const CHUNKS_OF_A_THREAD: u64 = 2;
/// How many chunks lose their memory at once.
const EMPTIED_AT_ONCE: u32 = 64;
const FREE_SLOTS: u32 = 512;
const SLOTS_AT_ONCE: u32 = 640;
/// With fewer free slots, more are made at once: a thread that finds none loses its records.
const FEW_SLOTS: u32 = 256;
/// Bytes of chunks in which interrupted code may still write, and how long they are kept.
const MOST_DOUBTFUL: u64 = 64 << 20;
/// After a failure to get memory.
const RETRY_NS: u64 = 100_000_000;

/// Which slot has which chunk, as far as the collector knows it.
pub struct Owners(Box<[AtomicU32]>);

impl Owners {
    fn new(chunk_count: u32) -> Self {
        Self((0..=chunk_count).map(|_| AtomicU32::new(NOBODY)).collect())
    }

    /// The owner of a chunk; of one that is not there, nobody gets it.
    pub fn of(&self, chunk: u32) -> u32 {
        self.0.get(chunk as usize).map_or(WITHHELD, |owner| owner.load(Ordering::Relaxed))
    }

    /// Changes the owner if it is the expected one.
    pub fn change(&self, chunk: u32, from: u32, to: u32) -> bool {
        self.0.get(chunk as usize).is_some_and(|owner| {
            owner.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })
    }
}

/// What the collector alone knows of the pool.
pub struct Pool {
    /// Chunks that have memory are those from 1 to this.
    ready: AtomicU32,
    slots_ready: AtomicU32,
    /// The top of the stack of free slots when they were last found to be enough.
    enough_slots: AtomicU64,
    pub owners: Owners,
}

/// How many chunks may be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// All that is in them has room in the recording.
    pub allowed: u64,
    /// More would only wait for the collector.
    pub useful: u64,
    /// There is memory for no more.
    pub memory: u64,
    /// So many are wanted now, and some ahead.
    pub waiting: u32,
}

impl Most {
    /// The least of them.
    fn least(self) -> u64 {
        self.allowed.min(self.useful).min(self.memory)
    }
}

/// The part of it that one thread works on at a time.
#[derive(Default)]
pub struct Stock {
    withheld: Vec<u32>,
    /// Withheld ones that have no memory but their first pages.
    empty: Vec<u32>,
    /// Chunks in which code that was interrupted for long may write: they keep their memory.
    once_doubtful: HashSet<u32>,
    cannot_empty: bool,
    doubtful: VecDeque<(u32, u64)>,
    retry_at: u64,
    /// Why the arena does not grow, if it does not.
    pub failure: Option<io::Error>,
}

fn push(top: &AtomicU64, link: &AtomicU32, number: u32) -> bool {
    let mut seen = top.load(Ordering::Acquire);
    for _ in 0..MOST_ATTEMPTS {
        link.store(seen as u32, Ordering::Release);
        let next = (seen >> 32).wrapping_add(1) << 32 | u64::from(number);
        match top.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return true,
            Err(other) => seen = other,
        }
    }
    false
}

impl Pool {
    /// A pool in which nothing is.
    pub fn new(arena: &Arena) -> Self {
        Self {
            ready: AtomicU32::new(0),
            slots_ready: AtomicU32::new(0),
            enough_slots: AtomicU64::new(u64::MAX),
            owners: Owners::new(arena.geometry().chunk_count),
        }
    }

    /// The pool of an arena that is recovered: all may be in use, and nothing is made.
    pub fn of_old(arena: &Arena) -> Self {
        let pool = Self::new(arena);
        let (control, geometry) = (arena.accounts().control(), arena.geometry());
        let chunks = control.chunks_ready().load(Ordering::Relaxed).min(geometry.chunk_count);
        let slots = control.slots_ready().load(Ordering::Relaxed).min(geometry.slot_count);
        pool.ready.store(chunks, Ordering::Relaxed);
        pool.slots_ready.store(slots, Ordering::Relaxed);
        pool
    }

    /// How many chunks have memory.
    pub fn ready(&self) -> u32 {
        self.ready.load(Ordering::Relaxed)
    }

    /// How many slots have memory.
    pub fn slots_ready(&self) -> u32 {
        self.slots_ready.load(Ordering::Relaxed)
    }

    /// Chunks that are free, as programs count them.
    pub fn free(arena: &Arena) -> u32 {
        let count = arena.shared().free_chunk_count().load(Ordering::Relaxed);
        // Threads take one before they count it.
        if count > arena.geometry().chunk_count {
            0
        } else {
            count
        }
    }

    /// Whether threads may soon find no chunk, and none can be made.
    fn is_starving(&self, arena: &Arena, most: Most) -> bool {
        u64::from(self.ready()) >= most.memory && Self::free(arena) < FREE_CHUNKS / 4
    }

    /// Whether slots should keep no chunks for themselves, since what is in them must have room.
    pub fn is_short(&self, stock: &Stock, arena: &Arena, most: Most) -> bool {
        self.is_starving(arena, most) || self.handed_out(stock).saturating_mul(2) > most.allowed
    }

    /// Whether they should not, since others wait for them.
    pub fn is_crowded(&self, stock: &Stock, most: Most) -> bool {
        self.handed_out(stock).saturating_mul(2) > most.useful
    }

    /// Whether threads may soon find no slot. Those of threads that have ended are free only
    /// when all is written that is in them.
    pub fn is_short_of_slots(&self, arena: &Arena) -> bool {
        let ready = self.slots_ready();
        let top = arena.shared().free_slots().load(Ordering::Acquire);
        // It changes with each slot that is taken or given back: where nothing happens, hundreds
        // of slots need not be fetched from memory again and again.
        if self.enough_slots.load(Ordering::Relaxed) == top {
            return false;
        }
        let mut slot = top as u32;
        for _ in 0..FEW_SLOTS {
            if slot == 0 || slot > ready {
                return ready < arena.geometry().slot_count;
            }
            slot = arena.slot(slot).next_free().load(Ordering::Relaxed);
        }
        self.enough_slots.store(top, Ordering::Relaxed);
        false
    }

    /// For how many chunks there may be memory while so many threads have slots.
    ///
    /// What a thread fills just now, nobody else can have: with less, some of those that come
    /// last would find nothing, for as long as the others live.
    pub fn most_with_memory(arena: &Arena, live: u32) -> u64 {
        let of_threads = arena.accounts().control().thread_chunks().load(Ordering::Relaxed);
        let chunks = arena.geometry().chunk_count;
        u64::from(chunks - of_threads.min(chunks) + live.min(of_threads).min(chunks))
    }

    /// How many chunks are of use to so many threads.
    pub fn useful(arena: &Arena, live: u32) -> u64 {
        u64::from(arena.geometry().ring_chunks) * WHOLE_RINGS
            + u64::from(live) * CHUNKS_OF_A_THREAD
            + u64::from(FREE_CHUNKS)
    }

    /// Makes a slot free; its thread has ended, or there was none.
    pub fn free_slot(arena: &Arena, slot: u32) -> bool {
        let place = arena.slot(slot);
        push(arena.shared().free_slots(), place.next_free(), slot)
    }

    /// Wakes so many threads that wait for a slot, if there are any.
    pub fn wake_for_slots(arena: &Arena, count: u32) {
        if arena.shared().slot_waiters().load(Ordering::SeqCst) != 0 {
            sys::futex_wake_at(arena.shared().free_slots(), count);
        }
    }

    /// Chunks that are in use or may be, without those that the collector keeps.
    pub fn handed_out(&self, stock: &Stock) -> u64 {
        let kept = stock.withheld.len() + stock.empty.len() + stock.doubtful.len();
        u64::from(self.ready()).saturating_sub(kept as u64)
    }
}

impl Stock {
    /// Takes a chunk back that the owner gives up; `keep_chunks` hands it out again.
    pub fn take_back(&mut self, pool: &Pool, arena: &Arena, chunk: u32, owner: u32) {
        let place = arena.chunk(chunk);
        place.committed().store(0, Ordering::Relaxed);
        // A collector that takes over finds it by that.
        place.owner().store(WITHHELD, Ordering::Relaxed);
        if pool.owners.change(chunk, owner, WITHHELD) {
            self.withheld.push(chunk);
        }
    }

    /// Takes over a chunk that another collector has kept, with memory or without.
    pub fn adopt(&mut self, pool: &Pool, chunk: u32) {
        if pool.owners.change(chunk, NOBODY, WITHHELD) {
            self.empty.push(chunk);
        }
    }

    /// Makes a chunk free that the owner gives up.
    pub fn free_chunk(&mut self, pool: &Pool, arena: &Arena, chunk: u32, owner: u32) {
        self.take_back(pool, arena, chunk, owner);
        self.release(pool, arena);
    }

    /// Keeps a chunk in which interrupted code may still write.
    pub fn doubt(&mut self, pool: &Pool, arena: &Arena, chunk: u32, owner: u32, now: u64) {
        if pool.owners.change(chunk, owner, WITHHELD) {
            self.doubtful.push_back((chunk, now));
            self.once_doubtful.insert(chunk);
        }
        let size = u64::from(arena.geometry().chunk_bytes);
        if self.doubtful.len() as u64 * size > MOST_DOUBTFUL {
            self.trust_oldest(arena);
        }
    }

    fn trust_oldest(&mut self, arena: &Arena) {
        if let Some((chunk, _)) = self.doubtful.pop_front() {
            let place = arena.chunk(chunk);
            place.committed().store(0, Ordering::Relaxed);
            place.owner().store(WITHHELD, Ordering::Relaxed);
            self.withheld.push(chunk);
        }
    }

    /// Puts a withheld chunk into the pool.
    fn release(&mut self, pool: &Pool, arena: &Arena) {
        let Some(chunk) = self.withheld.pop() else { return };
        arena.chunk(chunk).owner().store(0, Ordering::Relaxed);
        // Before it is there: who takes it may tell so at once.
        let is_ours = pool.owners.change(chunk, WITHHELD, NOBODY);
        let shared = arena.shared();
        if is_ours && push(shared.free_chunks(), arena.chunk(chunk).next_free(), chunk) {
            shared.free_chunk_count().fetch_add(1, Ordering::AcqRel);
        } else if is_ours && pool.owners.change(chunk, NOBODY, WITHHELD) {
            self.withheld.push(chunk);
        }
    }

    /// Takes a chunk out of the pool.
    fn withhold(&mut self, pool: &Pool, arena: &Arena) -> bool {
        let shared = arena.shared();
        let top = shared.free_chunks();
        let mut seen = top.load(Ordering::Acquire);
        for _ in 0..MOST_ATTEMPTS {
            let chunk = seen as u32;
            // Of what is not there, or of somebody, the stack is wrong.
            if chunk == 0 || chunk > pool.ready() || pool.owners.of(chunk) != NOBODY {
                return false;
            }
            let next = arena.chunk(chunk).next_free().load(Ordering::Acquire);
            let word = (seen >> 32).wrapping_add(1) << 32 | u64::from(next);
            match top.compare_exchange_weak(seen, word, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    shared.free_chunk_count().fetch_sub(1, Ordering::AcqRel);
                    let is_ours = pool.owners.change(chunk, NOBODY, WITHHELD);
                    if is_ours {
                        arena.chunk(chunk).owner().store(WITHHELD, Ordering::Relaxed);
                        self.withheld.push(chunk);
                    }
                    return is_ours;
                }
                Err(other) => seen = other,
            }
        }
        false
    }

    /// Keeps enough chunks free, and no more handed out than allowed; whether one can be had.
    pub fn keep_chunks(&mut self, pool: &Pool, arena: &Arena, most: Most, now: u64) -> bool {
        let is_starving = pool.is_starving(arena, most);
        while is_starving && self.doubtful.front().is_some_and(|one| now - one.1 > 1_000_000_000) {
            self.trust_oldest(arena);
        }
        while pool.handed_out(self) > most.allowed && self.withhold(pool, arena) {}
        let wanted = FREE_CHUNKS.saturating_add(most.waiting);
        let is_enough = Pool::free(arena) >= ENOUGH_CHUNKS.saturating_add(most.waiting);
        while !is_enough && Pool::free(arena) < wanted && pool.handed_out(self) < most.least() {
            if self.withheld.is_empty() && !self.grow(pool, arena, most.least(), now) {
                break;
            }
            let before = self.withheld.len();
            self.release(pool, arena);
            if self.withheld.len() == before {
                break;
            }
        }
        Pool::free(arena) > 0 || pool.handed_out(self) < most.allowed
    }

    /// Gives memory back of which there is more than is of use, while nobody is in a hurry.
    pub fn give_memory_back(&mut self, pool: &Pool, arena: &Arena, expected: u32) {
        if self.cannot_empty || arena.geometry().chunk_bytes <= PAGE {
            return;
        }
        let enough = FREE_CHUNKS + CHUNKS_AT_ONCE + expected;
        for _ in 0..EMPTIED_AT_ONCE {
            if Pool::free(arena) <= enough || !self.withhold(pool, arena) {
                break;
            }
        }
        let (keeps, mut can_go): (Vec<u32>, Vec<u32>) =
            self.withheld.iter().partition(|chunk| self.once_doubtful.contains(chunk));
        self.withheld = keeps;
        while let Some(chunk) = can_go.pop() {
            if arena.empty_chunk(chunk).is_err() {
                // It is as it was, and so are all others.
                self.cannot_empty = true;
                self.withheld.push(chunk);
                self.withheld.append(&mut can_go);
                return;
            }
            self.empty.push(chunk);
        }
    }

    /// Gives chunks their memory: those that had some before, or new ones.
    fn grow(&mut self, pool: &Pool, arena: &Arena, most: u64, now: u64) -> bool {
        if now < self.retry_at {
            return false;
        }
        let has_grown = match self.empty.last() {
            Some(chunk) => arena.fill_chunk(*chunk).map(|()| {
                self.withheld.extend(self.empty.pop());
                true
            }),
            None => self.make_chunks(pool, arena, most),
        };
        has_grown.unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            self.retry_at = now + RETRY_NS;
            false
        })
    }

    fn make_chunks(&mut self, pool: &Pool, arena: &Arena, most: u64) -> io::Result<bool> {
        let ready = pool.ready();
        let room = u64::from(arena.geometry().chunk_count - ready)
            .min(most.saturating_sub(pool.handed_out(self)))
            .min(u64::from(CHUNKS_AT_ONCE)) as u32;
        if room == 0 {
            return Ok(false);
        }
        arena.make_chunks(ready + 1, room)?;
        for chunk in (ready + 1..=ready + room).rev() {
            if pool.owners.change(chunk, NOBODY, WITHHELD) {
                arena.chunk(chunk).owner().store(WITHHELD, Ordering::Relaxed);
                self.withheld.push(chunk);
            }
        }
        pool.ready.store(ready + room, Ordering::Release);
        arena.set_chunks_ready(ready + room);
        Ok(true)
    }

    /// Keeps enough slots free of those that threads have not claimed, by making up to `most`.
    pub fn keep_slots(&mut self, pool: &Pool, arena: &Arena, claimed: u32, most: u32, now: u64) {
        if claimed + FREE_SLOTS > pool.slots_ready() || pool.is_short_of_slots(arena) {
            self.make_slots(pool, arena, most, now);
        }
    }

    fn make_slots(&mut self, pool: &Pool, arena: &Arena, most: u32, now: u64) {
        let ready = pool.slots_ready();
        // After a few, the rest of those.
        let at_once = SLOTS_AT_ONCE - ready % SLOTS_AT_ONCE;
        let count = (arena.geometry().slot_count - ready).min(at_once).min(most);
        if count == 0 || now < self.retry_at {
            return;
        }
        if let Err(error) = arena.make_slots(ready + 1, count) {
            self.failure.get_or_insert(error);
            self.retry_at = now + RETRY_NS;
            return;
        }
        pool.slots_ready.store(ready + count, Ordering::Release);
        arena.set_slots_ready(ready + count);
        for slot in (ready + 1..=ready + count).rev() {
            match arena.cpu_of(slot) {
                Some(cpu) => arena.make_cpu_slot(slot, cpu),
                None => {
                    Pool::free_slot(arena, slot);
                }
            }
        }
        Pool::wake_for_slots(arena, count);
    }
}
