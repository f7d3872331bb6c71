//! How much of an arena is filled: records that are not in files yet.

use std::sync::atomic::Ordering;

use crate::layout::RECORDS_AT;
use crate::recording::Recording;

/// Bytes of records in memory that no file has yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// Of all rings.
    pub unwritten: u64,
    /// Of the fullest ring.
    pub fullest: u64,
    /// Lost event records that no packet has told yet.
    pub untold: u64,
}

impl Recording {
    /// How much of the rings is filled.
    ///
    /// It waits for nobody, and what programs say is bounded by what a ring can hold.
    pub fn fill(&self) -> Fill {
        let mut fill = Fill::default();
        for slot in 1..=self.slots_in_use() {
            let bytes = self.unwritten_of(slot);
            fill.unwritten = fill.unwritten.saturating_add(bytes);
            fill.fullest = fill.fullest.max(bytes);
            fill.untold = fill.untold.saturating_add(self.untold_of(slot));
        }
        fill
    }

    /// As `pending_losses` has it, but without waiting for whoever works on the slot.
    fn untold_of(&self, slot: u32) -> u64 {
        let place = self.arena.slot(slot);
        if place.claimed().load(Ordering::Acquire) == 0 {
            return 0;
        }
        let account = self.arena.accounts().read(slot);
        let lost = self.possible_losses(place.lost().load(Ordering::Acquire));
        lost.saturating_add(account.inherited).saturating_sub(account.told_lost)
    }

    fn unwritten_of(&self, slot: u32) -> u64 {
        let place = self.arena.slot(slot);
        if place.claimed().load(Ordering::Acquire) == 0 {
            return 0;
        }
        let account = self.arena.accounts().read(slot);
        let mut drained = account.drained_seq;
        if self.arena.rings_overwrite() {
            drained = drained.max(place.gone().load(Ordering::Acquire));
        }
        let cur = place.cur().load(Ordering::Acquire);
        let (last, chunk) = (cur >> 32, cur as u32);
        if last <= drained || chunk == 0 || chunk > self.pool.ready() {
            return 0;
        }
        let geometry = self.arena.geometry();
        let complete = (last - drained - 1).min(u64::from(geometry.ring_chunks));
        let committed = self.arena.chunk(chunk).committed().load(Ordering::Acquire);
        let from = if complete == 0 { account.flushed.max(RECORDS_AT) } else { RECORDS_AT };
        let begun = committed.min(geometry.chunk_bytes).saturating_sub(from);
        complete * u64::from(geometry.chunk_bytes) + u64::from(begun)
    }
}
