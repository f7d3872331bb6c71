//! Rings that overwrite: a thread whose ring is full gives up the oldest chunk, and fills it anew.
//!
//! `gone` of a slot is the number of the last chunk that the ring has no more. The thread moves it
//! on to get a chunk, and the collector to write one: by a compare-and-exchange, so that a
//! chunk is of one of them alone. What the collector has taken is written straight from the arena; meanwhile
//! the thread has as many chunks as ever, since there is one more than the ring has.

use std::sync::atomic::Ordering;

use crate::append::Stall;
use crate::drain::{Group, Reach};
use crate::layout::DOUBTFUL;
use crate::recording::{Recording, SlotState};

/// A thread that goes on and on does not stop the collector.
const MOST_ATTEMPTS: u32 = 100;

impl Recording {
    /// The last chunk that is in a file, or that the ring has given up since.
    pub fn drained_or_given_up(&self, slot: u32, state: &SlotState) -> u64 {
        let drained = state.account.drained_seq;
        if !self.arena.rings_overwrite() {
            return drained;
        }
        self.arena.slot(slot).gone().load(Ordering::Acquire).max(drained)
    }

    /// How many chunks the ring has given up between those in files and a later one.
    pub fn given_up_before(&self, state: &SlotState, seq: u64) -> u64 {
        if !self.arena.rings_overwrite() {
            return 0;
        }
        seq.saturating_sub(state.account.drained_seq.saturating_add(1))
    }

    /// Drains a slot whose ring overwrites; how many chunks were written.
    pub fn drain_overwriting(
        &self,
        slot: u32,
        state: &mut SlotState,
        reach: Reach,
    ) -> Result<u32, Stall> {
        let has_ended = reach == Reach::Everything;
        if state.is_adopted {
            state.is_adopted = false;
            state.taken = self.find_taken(slot, state);
        }
        let mut drained = self.write_taken(slot, state, !has_ended, 0)?;
        let cur = self.arena.slot(slot).cur().load(Ordering::Acquire);
        let untold = if has_ended { self.find_untold(slot, state, (cur >> 32) + 1) } else { None };
        // Not beyond where the thread was: it may be as fast.
        while self.take_oldest(slot, state, cur >> 32, untold, has_ended) {
            drained += self.write_taken(slot, state, !has_ended, drained)?;
        }
        if reach == Reach::Snapshot && !state.is_damaged {
            let cur = self.arena.slot(slot).cur().load(Ordering::Acquire);
            self.flush(slot, state, cur)?;
        }
        Ok(drained)
    }

    /// Takes the oldest packet out of the ring, unless it is not complete; whether there is one.
    ///
    /// `untold` is a chunk that a thread had begun, but not told, when it ended.
    fn take_oldest(
        &self,
        slot: u32,
        state: &mut SlotState,
        last: u64,
        untold: Option<u32>,
        has_ended: bool,
    ) -> bool {
        let place = self.arena.slot(slot);
        for _ in 0..MOST_ATTEMPTS {
            let gone = place.gone().load(Ordering::Acquire);
            let cur = place.cur().load(Ordering::Acquire);
            if state.is_damaged {
                return false;
            }
            // The present chunk is the thread's, as long as that goes on.
            let highest = (cur >> 32) + u64::from(untold.is_some());
            if gone > highest || gone == highest && highest > 0 && !has_ended {
                self.damage(slot, state);
                return false;
            }
            if gone >= last + u64::from(untold.is_some()) {
                return false;
            }
            let list = self.list_ring(slot, state, gone, cur, untold, has_ended);
            if place.gone().load(Ordering::Acquire) != gone {
                continue;
            }
            let Some(list) = list else {
                self.damage(slot, state);
                return false;
            };
            let Some(group) = self.groups(list, has_ended).into_iter().next() else { return false };
            let Some(to) = group.chunks.last().map(|one| one.1) else { return false };
            // First, for who comes after a collector that is killed.
            let ledger = self.arena.ledger(slot);
            ledger.taken_from().store(gone + 1, Ordering::Relaxed);
            ledger.taken_to().store(to, Ordering::Release);
            let change =
                place.gone().compare_exchange(gone, to, Ordering::SeqCst, Ordering::Relaxed);
            if change.is_ok() {
                state.taken = Some(group);
                return true;
            }
        }
        false
    }

    /// The complete chunks of a ring with their numbers, the latest one first; none if they make
    /// no sense, which is so, too, if the thread has given some up meanwhile.
    fn list_ring(
        &self,
        slot: u32,
        state: &mut SlotState,
        gone: u64,
        cur: u64,
        untold: Option<u32>,
        has_ended: bool,
    ) -> Option<Vec<(u32, u64)>> {
        let last = cur >> 32;
        let count = last.checked_sub(gone)?;
        if gone < state.account.drained_seq || count > u64::from(self.arena.geometry().ring_chunks)
        {
            return None;
        }
        let mut list: Vec<_> = untold.map(|chunk| (chunk, last + 1)).into_iter().collect();
        let mut chunk = cur as u32;
        for seq in (gone + 1..=last).rev() {
            let is_ours = self.claim(slot, state, chunk)
                && self.arena.chunk(chunk).seq().load(Ordering::Relaxed) == seq
                && !list.iter().any(|one| one.0 == chunk);
            if !is_ours {
                return None;
            }
            if seq < last || has_ended {
                list.push((chunk, seq));
            }
            chunk = self.arena.chunk(chunk).prev().load(Ordering::Relaxed);
        }
        Some(list)
    }

    /// Writes what was taken out of the ring; how many chunks that were.
    fn write_taken(
        &self,
        slot: u32,
        state: &mut SlotState,
        goes_on: bool,
        drained: u32,
    ) -> Result<u32, Stall> {
        let Some(group) = state.taken.take() else { return Ok(0) };
        if let Err(stall) = self.drain_group(slot, state, &group) {
            state.taken = Some(group);
            return Err(stall);
        }
        let mut count = 0;
        for (chunk, _) in group.chunks {
            self.recycle(slot, state, chunk, goes_on, drained + count);
            count += 1;
        }
        self.recycle_doubtful(slot, state, goes_on);
        Ok(count)
    }

    /// Makes those chunks free that the thread has given up, but does not fill anew: interrupted
    /// code may write to them.
    fn recycle_doubtful(&self, slot: u32, state: &mut SlotState, goes_on: bool) {
        let gone = self.arena.slot(slot).gone().load(Ordering::Acquire);
        let is_left = |chunk: &u32| {
            let place = self.arena.chunk(*chunk);
            let seq = place.seq().load(Ordering::Relaxed);
            place.flags().load(Ordering::Relaxed) & DOUBTFUL != 0 && seq > 0 && seq <= gone
        };
        let left: Vec<u32> = state.held.iter().copied().filter(is_left).collect();
        for chunk in left {
            self.recycle(slot, state, chunk, goes_on, 0);
        }
    }

    /// What a collector before had taken, but not written, when it was killed.
    fn find_taken(&self, slot: u32, state: &mut SlotState) -> Option<Group> {
        let ledger = self.arena.ledger(slot);
        let from = ledger.taken_from().load(Ordering::Acquire);
        let to = ledger.taken_to().load(Ordering::Acquire);
        let gone = self.arena.slot(slot).gone().load(Ordering::Acquire);
        let count = to.checked_sub(from)?;
        if from <= state.account.drained_seq
            || to > gone
            || count > u64::from(self.arena.geometry().ring_chunks)
        {
            return None;
        }
        let find = |seq: u64| {
            (1..=self.pool.ready()).find(|chunk| {
                let place = self.arena.chunk(*chunk);
                place.seq().load(Ordering::Relaxed) == seq
                    && place.owner().load(Ordering::Relaxed) == slot
            })
        };
        let found: Option<Vec<_>> = (from..=to).map(|seq| Some((find(seq)?, seq))).collect();
        let mut list = found?;
        if !list.iter().all(|one| self.claim(slot, state, one.0)) {
            return None;
        }
        list.reverse();
        self.groups(list, true).into_iter().next()
    }
}
