//! The chunks of a slot: found, checked, written, and made free.
//!
//! All numbers are copied before they are looked at, since programs may change them at any
//! time. A ring is walked by count, from the present chunk back; what lies before the last
//! chunk that was drained may be in use again.

use std::io;
use std::sync::atomic::Ordering;

use crate::accounts::Counts;
use crate::append::{Draft, Stall};
use crate::files::METADATA;
use crate::layout::{CONTINUED, CONTINUES, DOUBTFUL, KEEP, RECORDS_AT};
use crate::pool::{Pool, NOBODY, WITHHELD};
use crate::recording::{Recording, SlotState};
use crate::sys;

/// A slot keeps at least so many chunks for itself while it writes.
const FEW_SPARES: u32 = 4;
/// Attempts to look at a chunk while its thread commits nothing.
const MOST_LOOKS: u32 = 8;

/// What becomes of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Its thread goes on: only chunks that are complete.
    Complete,
    /// As much as is there, of a thread that may go on.
    Snapshot,
    /// Its thread has ended: all.
    Everything,
}

/// Chunks that are one packet, the first one first, with their numbers in the ring.
#[derive(Clone)]
pub struct Group {
    pub chunks: Vec<(u32, u64)>,
    /// Whether they lack a part of their record, whose thread jumped away or ended.
    pub is_torn: bool,
}

impl Recording {
    /// Drains a slot; how many chunks were written.
    pub fn drain(&self, slot: u32, state: &mut SlotState, reach: Reach) -> Result<u32, Stall> {
        if self.arena.rings_overwrite() {
            return self.drain_overwriting(slot, state, reach);
        }
        let cur = self.arena.slot(slot).cur().load(Ordering::Acquire);
        let mut list = self.walk(slot, state, cur);
        let last = cur >> 32;
        let has_ended = reach == Reach::Everything;
        if has_ended {
            if let Some(chunk) = self.find_untold(slot, state, last + 1) {
                list.insert(0, (chunk, last + 1));
            }
        }
        let shrunk = self.shrunk(slot, &list);
        if !has_ended && list.first().is_some_and(|one| one.1 == last) {
            list.remove(0);
        }
        let mut drained = 0;
        for group in self.groups(list, has_ended) {
            self.drain_group(slot, state, &group)?;
            for (chunk, seq) in group.chunks {
                if shrunk.contains(&seq) {
                    self.tell_spoiled(state, "changed");
                }
                self.recycle(slot, state, chunk, !has_ended, drained);
                drained += 1;
            }
        }
        if reach == Reach::Snapshot && !state.is_damaged {
            self.flush(slot, state, cur)?;
        }
        Ok(drained)
    }

    /// The numbers of chunks that have less than there was when their thread left them: only
    /// somebody else can have stored that. The list has the latest chunk first.
    fn shrunk(&self, slot: u32, list: &[(u32, u64)]) -> Vec<u64> {
        if self.arena.cpu_of(slot).is_some() {
            return Vec::new();
        }
        let is_less = |one: &&[(u32, u64)]| match one {
            [next, chunk] => {
                let before = self.arena.chunk(next.0).before().load(Ordering::Relaxed);
                self.arena.chunk(chunk.0).committed().load(Ordering::Acquire) < before
            }
            _ => false,
        };
        list.windows(2).filter(is_less).filter_map(|one| Some(one.last()?.1)).collect()
    }

    /// Which chunks belong together, the oldest first; those that may still go on are left out.
    pub fn groups(&self, list: Vec<(u32, u64)>, has_ended: bool) -> Vec<Group> {
        let mut groups = Vec::new();
        let mut open: Option<Group> = None;
        for (chunk, seq) in list.into_iter().rev() {
            let place = self.arena.chunk(chunk);
            let flags = place.flags().load(Ordering::Relaxed);
            let is_rest = flags & CONTINUED != 0;
            let has_bytes = place.committed().load(Ordering::Acquire) > RECORDS_AT;
            let mut group = match open.take() {
                Some(group) if is_rest => group,
                before => {
                    groups.extend(before.map(|group| Group { is_torn: true, ..group }));
                    Group { chunks: Vec::new(), is_torn: is_rest }
                }
            };
            group.is_torn |= is_rest && !has_bytes;
            group.chunks.push((chunk, seq));
            if flags & CONTINUES == 0 {
                groups.push(group);
            } else {
                open = Some(group);
            }
        }
        if has_ended {
            groups.extend(open.map(|group| Group { is_torn: true, ..group }));
        }
        groups
    }

    /// Chunks that are not yet in files with their numbers, the present one first.
    fn walk(&self, slot: u32, state: &mut SlotState, cur: u64) -> Vec<(u32, u64)> {
        let (last, drained) = (cur >> 32, state.account.drained_seq);
        let count = last.saturating_sub(drained);
        let mut list = Vec::new();
        if state.is_damaged || count > u64::from(self.arena.geometry().ring_chunks) + 1 {
            self.damage(slot, state);
            return list;
        }
        let mut chunk = cur as u32;
        for seq in (drained + 1..=last).rev() {
            let place = self.arena.chunk(chunk);
            let is_ours = self.claim(slot, state, chunk)
                && place.seq().load(Ordering::Relaxed) == seq
                && !list.iter().any(|one: &(u32, u64)| one.0 == chunk);
            if !is_ours {
                self.damage(slot, state);
                break;
            }
            list.push((chunk, seq));
            chunk = place.prev().load(Ordering::Relaxed);
        }
        list
    }

    /// Finds the chunks of all slots, as their programs have noted them.
    ///
    /// Where CPUs have rings, a chunk goes from the thread that took it to a CPU, and does not
    /// come back: there, chunks are known when their rings are walked.
    pub fn find_held(&self) {
        if self.arena.has_cpu_rings() {
            return;
        }
        for chunk in 1..=self.pool.ready() {
            let slot = self.arena.chunk(chunk).owner().load(Ordering::Relaxed);
            if slot == WITHHELD {
                self.stock().adopt(&self.pool, chunk);
            }
            if slot == NOBODY || slot > self.pool.slots_ready() {
                continue;
            }
            let is_claimed = self.arena.slot(slot).claimed().load(Ordering::Acquire) != 0;
            if !is_claimed || !self.pool.owners.change(chunk, NOBODY, slot) {
                continue;
            }
            if let Some(mut guard) = self.slot(slot) {
                guard.get_or_insert_with(|| Box::new(self.first_look(slot))).held.push(chunk);
            }
        }
    }

    pub fn damage(&self, slot: u32, state: &mut SlotState) {
        if !state.is_damaged {
            state.is_damaged = true;
            self.trace.set_damaged();
            let (vpid, vtid) = (state.identity.vpid, state.identity.vtid);
            self.trace.add_problem(format!(
                "thread {vtid} of process {vpid}: its part of the arena is damaged (slot {slot})"
            ));
        }
    }

    /// Whether a chunk is the slot's, or may be and is from now on.
    pub fn claim(&self, slot: u32, state: &mut SlotState, chunk: u32) -> bool {
        if chunk == 0 || chunk > self.pool.ready() {
            return false;
        }
        if self.pool.owners.of(chunk) == slot {
            return true;
        }
        let is_new = self.arena.chunk(chunk).owner().load(Ordering::Relaxed) == slot
            && self.pool.owners.change(chunk, NOBODY, slot);
        if is_new {
            state.held.push(chunk);
        }
        is_new
    }

    /// The chunk that a thread had prepared and begun, but not told, when it ended.
    pub fn find_untold(&self, slot: u32, state: &mut SlotState, seq: u64) -> Option<u32> {
        if state.is_damaged {
            return None;
        }
        let popped = self.arena.slot(slot).popped().load(Ordering::Relaxed);
        let known = state.returned.wrapping_add(state.held.len() as u32);
        if popped != known {
            for chunk in 1..=self.pool.ready() {
                let owner = self.arena.chunk(chunk).owner().load(Ordering::Relaxed);
                if owner == slot && self.pool.owners.of(chunk) == NOBODY {
                    self.claim(slot, state, chunk);
                }
            }
        }
        state.held.iter().copied().find(|chunk| {
            let place = self.arena.chunk(*chunk);
            place.committed().load(Ordering::Acquire) > RECORDS_AT
                && place.owner().load(Ordering::Relaxed) == slot
                && place.seq().load(Ordering::Relaxed) == seq
        })
    }

    /// What a chunk has to say from behind what was flushed of it, up to what is committed.
    fn draft(
        &self,
        slot: u32,
        state: &SlotState,
        chunk: u32,
        (flushed, committed): (u32, u32),
    ) -> Draft {
        let place = self.arena.chunk(chunk);
        let packet = place.packet();
        let from = flushed.max(RECORDS_AT);
        let bytes = committed.saturating_sub(from);
        let begin = packet.timestamp_begin().load(Ordering::Relaxed);
        let begin = begin.max(state.account.last_end).max(self.trace.shown());
        // Code that was interrupted may store its own time after those of records behind it.
        let end = packet.timestamp_end().load(Ordering::Relaxed);
        let end = end.max(place.least_end().load(Ordering::Relaxed)).max(begin);
        let first_lost = place.first_lost().load(Ordering::Relaxed);
        let last_lost = place.last_lost().load(Ordering::Relaxed);
        let has_losses = flushed == 0 && first_lost != 0;
        let at = place.offset() + u64::from(from);
        let whole = if bytes > 0 { self.arena.whole_bytes(at, bytes) } else { 0 };
        Draft {
            begin,
            end,
            records: (whole > 0).then_some((at, whole)).into_iter().collect(),
            missing: bytes - whole,
            lost: self.possible_losses(place.lost().load(Ordering::Relaxed)),
            losses: has_losses.then_some((first_lost, last_lost.min(begin))),
            vpid: packet.vpid().load(Ordering::Relaxed),
            vtid: packet.vtid().load(Ordering::Relaxed),
            procname: packet.procname(),
            is_kept: place.flags().load(Ordering::Relaxed) & KEEP != 0,
            cpu: self.arena.cpu_of(slot),
            given_up: 0,
            is_in_ring: None,
        }
    }

    /// What a chunk has to say now, without what was flushed of it, or thrown away.
    pub fn present_draft(&self, slot: u32, state: &SlotState, chunk: u32, seq: u64) -> Draft {
        // That was a part of one chunk: the first that is not in files as a whole.
        let is_flushed = seq == state.account.drained_seq.saturating_add(1);
        let flushed = if is_flushed { state.account.flushed } else { 0 };
        self.draft(slot, state, chunk, (flushed, self.committed(chunk)))
    }

    /// Describes the event classes that programs have registered so far.
    pub fn describe_classes(&self) -> io::Result<()> {
        match self.write_classes() {
            Err(Stall::Disk) => Err(io::Error::from_raw_os_error(libc::ENOSPC)),
            _ => Ok(()),
        }
    }

    fn committed(&self, chunk: u32) -> u32 {
        let committed = self.arena.chunk(chunk).committed().load(Ordering::Acquire);
        committed.clamp(RECORDS_AT, self.arena.geometry().chunk_bytes)
    }

    pub fn drain_group(
        &self,
        slot: u32,
        state: &mut SlotState,
        group: &Group,
    ) -> Result<(), Stall> {
        let Some(((first, first_seq), rest)) = group.chunks.split_first() else { return Ok(()) };
        let committed = self.committed(*first);
        self.write_classes()?;
        let given_up = self.given_up_before(state, *first_seq);
        if given_up > 0 {
            // What may have been written of a chunk was of one of those.
            state.account.flushed = 0;
        }
        let mut draft = self.draft(slot, state, *first, (state.account.flushed, committed));
        draft.given_up = given_up;
        for (chunk, _) in rest {
            let part = self.draft(slot, state, *chunk, (0, self.committed(*chunk)));
            draft.records.extend(part.records);
            draft.missing = draft.missing.saturating_add(part.missing);
            draft.end = draft.end.max(part.end);
        }
        // Of a record of several chunks, a part is worth nothing.
        if group.is_torn || draft.missing > 0 && !rest.is_empty() {
            draft.records.clear();
            draft.given_up += u64::from(self.arena.rings_overwrite());
        }
        let seq = rest.last().map_or(*first_seq, |(_, seq)| *seq);
        let done = self.append(slot, state, &draft, |account| {
            account.drained_seq = seq;
            account.flushed = 0;
        });
        if draft.missing > 0 && done.is_ok() {
            self.tell_spoiled(state, "took away");
        }
        if let Err(Stall::Never(why)) = done {
            self.give_up(slot, state, seq, &draft, why);
            return Ok(());
        }
        done
    }

    /// Tells that a program has taken away pages in which the records of a thread were, or
    /// changed how many there are.
    ///
    /// Where pages are gone, the packet ends in the middle of a record, which readers report as
    /// damage. How many records are missing, nobody can tell: they count as one.
    fn tell_spoiled(&self, state: &SlotState, what: &str) {
        let (vpid, vtid) = (state.identity.vpid, state.identity.vtid);
        self.trace.set_damaged();
        self.arena.shared().lost().fetch_add(1, Ordering::Relaxed);
        self.trace.add_problem(format!(
            "thread {vtid} of process {vpid}: records are lost, which count as one event: a \
             program {what} memory of the arena"
        ));
    }

    /// Goes on without a chunk that cannot be written, ever.
    ///
    /// How many records are in it, only a reader could tell. So they count as one: the trace
    /// must not look as if nothing were lost.
    fn give_up(&self, slot: u32, state: &mut SlotState, seq: u64, draft: &Draft, why: &str) {
        let (vpid, vtid) = (state.identity.vpid, state.identity.vtid);
        let bytes: u64 = draft.records.iter().map(|part| u64::from(part.1)).sum();
        if bytes > 0 {
            self.arena.shared().lost().fetch_add(1, Ordering::Relaxed);
            self.trace.add_problem(format!(
                "thread {vtid} of process {vpid}: {bytes} bytes of records are lost, \
                 which count as one event: {why}"
            ));
        }
        state.account.drained_seq = seq;
        state.account.flushed = 0;
        self.arena.note(slot, &state.account);
    }

    fn write_classes(&self) -> Result<(), Stall> {
        if self.trace.is_discarding() {
            // Whatever is recorded later describes them before.
            return Ok(());
        }
        let mut problem = |text| self.trace.add_problem(text);
        match self.classes.write(&self.arena, &self.trace.files, &mut problem) {
            Ok(0) => Ok(()),
            Ok(bytes) => {
                // The limit is that of the whole recording: fewer chunks are handed out.
                self.trace.budget().add(bytes);
                if self.trace.is_limited() {
                    self.keep_ahead();
                }
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Somebody removed it; records are worth more than what describes them.
                self.trace.add_problem(format!("{METADATA} is gone: it lacks event classes"));
                Ok(())
            }
            Err(error) => {
                self.trace.add_failure(&error, METADATA);
                Err(Stall::Disk)
            }
        }
    }

    /// Makes a drained chunk free: for its slot, whose program has it mapped, or for all.
    pub fn recycle(
        &self,
        slot: u32,
        state: &mut SlotState,
        chunk: u32,
        goes_on: bool,
        drained: u32,
    ) {
        let ledger = self.arena.ledger(slot);
        let place = self.arena.chunk(chunk);
        let is_doubtful = place.flags().load(Ordering::Relaxed) & DOUBTFUL != 0;
        let taken = self.arena.slot(slot).taken().load(Ordering::Relaxed);
        let spares = state.given.wrapping_sub(taken);
        let wanted = FEW_SPARES.max(drained * 2).min(self.arena.geometry().ring_chunks);
        let to_slot = goes_on
            && self.arena.cpu_of(slot).is_none()
            && !is_doubtful
            && spares < wanted
            && state.held.len() <= self.arena.geometry().ring_chunks as usize
            && !self.is_short.load(Ordering::Relaxed)
            && !self.is_crowded.load(Ordering::Relaxed);
        if to_slot {
            place.committed().store(0, Ordering::Relaxed);
            ledger.spare(state.given).store(chunk, Ordering::Relaxed);
            state.given = state.given.wrapping_add(1);
            ledger.given().store(state.given, Ordering::Release);
        } else {
            self.give_back(slot, chunk, is_doubtful && goes_on);
            state.held.retain(|one| *one != chunk);
            state.returned = state.returned.wrapping_add(1);
            ledger.returned().store(state.returned, Ordering::Release);
        }
        state.consumed = state.consumed.wrapping_add(1);
        ledger.consumed().store(state.consumed, Ordering::Release);
        let (consumed, given, returned) = (state.consumed, state.given, state.returned);
        self.arena.accounts().store_counts(slot, Counts { consumed, given, returned });
        self.arena.control().progress().fetch_add(1, Ordering::AcqRel);
        self.trace.tallies.chunks.fetch_add(1, Ordering::Relaxed);
        let can_go_on = to_slot || Pool::free(&self.arena) >= self.chunks_to_go_on;
        if can_go_on && self.arena.slot(slot).waiting().load(Ordering::Acquire) != 0 {
            sys::futex_wake(ledger.consumed());
        }
    }

    fn give_back(&self, slot: u32, chunk: u32, is_doubtful: bool) {
        let mut stock = self.stock();
        if is_doubtful {
            stock.doubt(&self.pool, &self.arena, chunk, slot, self.trace.now());
        } else if self.trace.is_limited() && self.is_short.load(Ordering::Relaxed) {
            // Whether it may be filled again depends on how much room is left.
            stock.take_back(&self.pool, &self.arena, chunk, slot);
        } else {
            stock.free_chunk(&self.pool, &self.arena, chunk, slot);
        }
    }

    /// Writes what the present chunk of a thread has so far, as a packet of its own.
    pub fn flush(&self, slot: u32, state: &mut SlotState, cur: u64) -> Result<(), Stall> {
        let chunk = cur as u32;
        let drained = self.drained_or_given_up(slot, state);
        let is_next = cur >> 32 == drained.wrapping_add(1);
        if !is_next || state.taken.is_some() || !self.claim(slot, state, chunk) {
            return Ok(());
        }
        let given_up = drained - state.account.drained_seq;
        if given_up > 0 {
            state.account.flushed = 0;
        }
        let flags = self.arena.chunk(chunk).flags().load(Ordering::Relaxed);
        if flags & (CONTINUES | CONTINUED) != 0 {
            return Ok(());
        }
        let mut looked = None;
        for _ in 0..MOST_LOOKS {
            let committed = self.committed(chunk);
            if committed <= state.account.flushed.max(RECORDS_AT) || !self.has_room_to_flush() {
                return Ok(());
            }
            self.write_classes()?;
            let mut draft = self.draft(slot, state, chunk, (state.account.flushed, committed));
            draft.given_up = given_up;
            draft.is_in_ring = self.arena.rings_overwrite().then_some((slot, cur >> 32));
            // The end must be that of these records, or of one that is not yet committed.
            if self.committed(chunk) == committed {
                looked = Some((draft, committed));
                break;
            }
        }
        let Some((draft, committed)) = looked else { return Ok(()) };
        let done = self.append(slot, state, &draft, |account| {
            account.flushed = committed;
            account.drained_seq = drained;
        });
        if draft.missing > 0 && done.is_ok() {
            self.tell_spoiled(state, "took away");
        }
        match done {
            Err(Stall::Never(why)) => {
                self.trace.add_problem(format!("a part of the arena cannot be read: {why}"));
                Ok(())
            }
            // Its thread has gone round the ring meanwhile; what is there now comes next.
            Err(Stall::GivenUp) => Ok(()),
            other => other,
        }
    }

    /// Whether a packet more than a chunk needs has room besides all that threads may fill:
    /// each has a head of its own.
    fn has_room_to_flush(&self) -> bool {
        // At the end, nothing more comes: the room of the chunk is there.
        if !self.trace.is_limited() || self.is_closed() {
            return true;
        }
        // Chunks that nobody has taken are withdrawn as there is less room.
        self.keep_ahead();
        let allowed = self.trace.allowed_chunks(self.arena.geometry().chunk_bytes);
        let free = u64::from(Pool::free(&self.arena));
        self.pool.handed_out(&self.stock()).saturating_sub(free) < allowed
    }

    /// Makes all chunks of a slot free whose thread has ended.
    pub fn free_chunks(&self, slot: u32, state: &mut SlotState) {
        let mut stock = self.stock();
        for chunk in state.held.drain(..) {
            stock.take_back(&self.pool, &self.arena, chunk, slot);
        }
        drop(stock);
        self.keep_ahead();
    }
}
