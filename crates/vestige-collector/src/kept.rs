//! Recordings of which nothing is written but snapshots: rings stay when their threads end.
//!
//! Together, rings of threads that have ended keep as many chunks as the rings of all
//! processors would have, as in LTTng, where these are all there is. The oldest go first, and
//! sooner if threads that live need the memory.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};
use std::thread;

use crate::pool::Pool;
use crate::recording::{Recording, SlotState};

/// With fewer free chunks, threads that live may soon find none.
const FEW_CHUNKS: u32 = 8;

/// Slots of threads that have ended with their chunks, the oldest first.
#[derive(Default)]
pub struct Left {
    slots: VecDeque<(u32, u64)>,
    chunks: u64,
}

impl Recording {
    fn left(&self) -> MutexGuard<'_, Left> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the ring of a thread that has ended; false: there is nothing in it.
    pub fn keep_left(&self, slot: u32, state: &mut SlotState) -> bool {
        if state.is_left {
            return true;
        }
        let place = self.arena.slot(slot);
        let last = place.cur().load(Ordering::Acquire) >> 32;
        let chunks = last.saturating_sub(place.gone().load(Ordering::Acquire));
        if chunks == 0 || state.is_damaged {
            return false;
        }
        state.is_left = true;
        let mut left = self.left();
        // A program may have stored any number.
        let chunks = chunks.min(u64::from(self.arena.geometry().ring_chunks));
        left.slots.push_back((slot, chunks));
        left.chunks += chunks;
        true
    }

    /// Lets the oldest rings go of which there are too many.
    pub fn let_oldest_go(&self) {
        let processors = thread::available_parallelism().map_or(1, usize::from) as u64;
        self.let_left_go(processors.saturating_mul(u64::from(self.arena.geometry().ring_chunks)));
    }

    /// Lets the oldest rings go until the others have no more than so many chunks.
    pub fn let_left_go(&self, most: u64) {
        while let Some(slot) = self.take_oldest_left(most) {
            let Some(mut guard) = self.slot(slot) else { continue };
            if let Some(state) = guard.as_deref_mut() {
                self.free_chunks(slot, state);
                self.clear(slot);
            }
            *guard = None;
        }
    }

    fn take_oldest_left(&self, most: u64) -> Option<u32> {
        let mut left = self.left();
        let is_needed = left.chunks > most || self.is_short_of_memory();
        let (slot, chunks) = is_needed.then(|| left.slots.pop_front()).flatten()?;
        left.chunks -= chunks;
        Some(slot)
    }

    fn is_short_of_memory(&self) -> bool {
        let is_whole = self.pool.ready() == self.arena.geometry().chunk_count;
        is_whole && Pool::free(&self.arena) < FEW_CHUNKS
            || self.pool.is_short_of_slots(&self.arena)
                && self.pool.slots_ready() == self.arena.geometry().slot_count
    }
}
