//! A pass over all slots: who has something to write, who has ended, who is quiet.

use std::sync::atomic::Ordering;

use crate::account::Account;
use crate::accounts::Counts;
use crate::append::{Draft, Stall};
use crate::drain::Reach;
use crate::pool::Pool;
use crate::recording::{Recording, SlotState};
use crate::streams::Identity;
use crate::sys;
use crate::views::Slot;

/// One file may be bad and the others good; with more of them it is the disk.
const MOST_STALLS: u32 = 8;
/// With fewer free chunks the pass does not wait for its end before it makes some.
const FEW_CHUNKS: u32 = 8;
/// After writing what so many threads left that have ended, it looks whether slots are short:
/// meanwhile many more may have begun.
const ENDED_AT_ONCE: u32 = 16;

/// What a pass found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Chunks written and slots ended.
    pub work: u32,
    /// Slots with complete chunks.
    pub pressed: u32,
    /// Of these, slots ended.
    pub ended: u32,
    /// Slots whose threads live.
    pub live: u32,
    /// Slots whose threads wait for a chunk.
    pub waiting: u32,
    /// Slots with something that could not be written.
    pub stalled: u32,
}

impl Found {
    /// Counts what a pass over another arena found, too.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            work: self.work + other.work,
            ended: self.ended + other.ended,
            pressed: self.pressed + other.pressed,
            live: self.live + other.live,
            waiting: self.waiting + other.waiting,
            stalled: self.stalled + other.stalled,
        }
    }
}

/// A thread with a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSlot {
    pub slot: u32,
    pub identity: Identity,
}

impl Recording {
    /// Slots that may be in use: never fewer than before, whatever programs store there.
    pub fn slots_in_use(&self) -> u32 {
        let high = self.arena.shared().slots_high().load(Ordering::Acquire);
        let count = high.saturating_add(1).min(self.pool.slots_ready());
        let known = self.known_slots.load(Ordering::Relaxed);
        if count > known {
            self.known_slots.fetch_max(count, Ordering::Relaxed);
        }
        count.max(known)
    }

    /// Looks at all slots from now on, whatever programs say of how many there are in use.
    pub fn know_all_slots(&self) {
        self.known_slots.store(self.pool.slots_ready(), Ordering::Relaxed);
    }

    /// The highest slot of a thread: as many had one at a time, or some hundred fewer, since new
    /// slots are taken before those that are left.
    pub fn most_threads(&self) -> u32 {
        let high = self.arena.shared().slots_high().load(Ordering::Relaxed);
        high.min(self.pool.slots_ready()).saturating_sub(self.arena.cpu_rings())
    }

    /// Drains all slots from one on, going round; `reach` is for those whose threads live.
    pub fn pass(&self, first: u32, reach: Reach) -> Found {
        let mut found = Found::default();
        if self.trace.is_stalled() && reach == Reach::Complete {
            found.stalled = 1;
            found.live = self.live.load(Ordering::Relaxed);
            return found;
        }
        if reach == Reach::Snapshot {
            // It may be the last one.
            self.know_all_slots();
        }
        let count = self.slots_in_use();
        let mut free = Pool::free(&self.arena);
        let is_thorough = self.is_time_to_look() || reach == Reach::Snapshot;
        for number in 0..count {
            let slot = (first + number) % count + 1;
            if is_thorough || !self.is_at_rest(slot, &mut found) {
                self.visit(slot, reach, &mut found);
                free = Pool::free(&self.arena);
            }
            if self.arena.slot(slot).waiting().load(Ordering::Acquire) != 0 {
                found.waiting += 1;
                free -= self.wake(slot, free);
            }
            if found.stalled >= MOST_STALLS && reach == Reach::Complete {
                break;
            }
        }
        if self.trace.is_kept {
            self.let_oldest_go();
        }
        if found.stalled == 0 {
            self.live.store(found.live, Ordering::Relaxed);
        }
        self.waiting.store(found.waiting, Ordering::Relaxed);
        found
    }

    /// Wakes a thread that waits, if it can go on with so many free chunks; how many that takes.
    fn wake(&self, slot: u32, free: u32) -> u32 {
        let has_none = self.arena.slot(slot).cur().load(Ordering::Relaxed) == 0;
        let needed = if has_none { 1 } else { self.chunks_to_go_on };
        if free < needed {
            return 0;
        }
        sys::futex_wake(self.arena.ledger(slot).consumed());
        needed
    }

    /// Whether a pass looks at all slots, also at those that seem to have nothing.
    fn is_time_to_look(&self) -> bool {
        let now = self.trace.now();
        let is_due = now >= self.look_at.load(Ordering::Relaxed);
        if is_due {
            self.look_at.store(now + self.trace.timers.look_ns(), Ordering::Relaxed);
        }
        is_due
    }

    /// Whether a slot is not in use, or its thread lives and has no complete chunk: there may be
    /// thousands of them, so no lock is taken for that.
    fn is_at_rest(&self, slot: u32, found: &mut Found) -> bool {
        let place = self.arena.slot(slot);
        if self.has_died(slot) {
            return false;
        }
        if place.claimed().load(Ordering::Acquire) == 0 {
            return true;
        }
        let drained = self.arena.ledger(slot).drained_seq().load(Ordering::Relaxed);
        let is_at_rest =
            self.trace.is_kept || place.cur().load(Ordering::Relaxed) >> 32 <= drained + 1;
        found.live += u32::from(is_at_rest && self.arena.cpu_of(slot).is_none());
        is_at_rest
    }

    /// Whether the thread of a slot has ended; CPUs do not.
    pub fn has_died(&self, slot: u32) -> bool {
        self.arena.cpu_of(slot).is_none() && self.arena.slot(slot).has_died()
    }

    /// Looks at a slot, and drains it.
    pub fn visit(&self, slot: u32, reach: Reach, found: &mut Found) {
        let _writing = self.trace.writing();
        let place = self.arena.slot(slot);
        if place.claimed().load(Ordering::Acquire) == 0 && !self.has_died(slot) {
            self.miss(slot);
            return;
        }
        let is_thread = self.arena.cpu_of(slot).is_none();
        let Some(mut guard) = self.try_slot(slot) else {
            found.live += u32::from(is_thread);
            return;
        };
        // Again, since another drainer may have ended it; life first, since it tells that
        // nothing changes any more.
        let has_died = self.has_died(slot);
        if place.claimed().load(Ordering::Acquire) == 0 {
            // A thread took the slot and ended before it told who it is.
            if has_died && guard.is_none() {
                self.free_slot(slot);
            }
            return;
        }
        let state = guard.get_or_insert_with(|| Box::new(self.first_look(slot)));
        let has_ended = has_died || state.is_gone;
        if has_ended && self.trace.is_kept && self.keep_left(slot, state) {
            return;
        }
        let done = if has_ended {
            self.end(slot, state).inspect(|_| {
                found.work += 1;
                found.ended += 1;
                if found.ended % ENDED_AT_ONCE == 0 && self.pool.is_short_of_slots(&self.arena) {
                    self.keep_ahead();
                }
            })
        } else {
            found.live += u32::from(is_thread);
            self.visit_live(slot, state, reach, found)
        };
        match done {
            Ok(true) => *guard = None,
            Ok(false) => {}
            Err(_) => found.stalled += 1,
        }
    }

    /// Only the collector takes a claim away, with what it knows of the slot: if it still knows a
    /// thread there, somebody else has done so, and what that has recorded is lost.
    fn miss(&self, slot: u32) {
        if let Some(mut guard) = self.try_slot(slot) {
            let is_claimed = self.arena.slot(slot).claimed().load(Ordering::Acquire) != 0;
            if let Some(state) = guard.as_deref_mut().filter(|_| !is_claimed) {
                self.damage(slot, state);
            }
        }
    }

    /// What a slot says of itself, which was not in use before.
    pub fn first_look(&self, slot: u32) -> SlotState {
        let place = self.arena.slot(slot);
        let identity = Identity {
            vpid: place.vpid().load(Ordering::Relaxed),
            vtid: place.vtid().load(Ordering::Relaxed),
            pid_namespace: place.pid_namespace().load(Ordering::Relaxed),
            process_start: place.process_start().load(Ordering::Relaxed),
            procname: place.procname(),
        };
        SlotState { identity, seen_at: self.trace.now(), ..SlotState::default() }
    }

    /// Who readers take a thread for. Rings of CPUs are of no PID namespace, and what is told
    /// of their processes must not be of another than these.
    pub fn told_identity(&self, state: &SlotState) -> Identity {
        let pid_namespace =
            if self.arena.has_cpu_rings() { 0 } else { state.identity.pid_namespace };
        Identity { pid_namespace, ..state.identity }
    }

    fn visit_live(
        &self,
        slot: u32,
        state: &mut SlotState,
        reach: Reach,
        found: &mut Found,
    ) -> Result<bool, Stall> {
        if self.trace.is_kept {
            return Ok(false);
        }
        let cur = self.arena.slot(slot).cur().load(Ordering::Acquire);
        if reach == Reach::Snapshot {
            found.work += self.drain(slot, state, reach)?;
            // A thread that goes on may have completed chunks meanwhile, and lost records after
            // them: who takes over tells these in their place.
            if self.is_closed() {
                self.tell_losses(slot, state)?;
            }
            return Ok(false);
        }
        let now = self.trace.now();
        if cur != state.seen {
            state.seen = cur;
            state.seen_at = now;
        }
        if cur >> 32 > state.account.drained_seq + 1 && !state.is_damaged {
            found.pressed += 1;
            found.work += self.drain(slot, state, reach)?;
            if self.trace.is_limited() || Pool::free(&self.arena) < FEW_CHUNKS {
                self.keep_ahead();
            }
        } else if now.saturating_sub(state.seen_at) >= self.trace.timers.quiet_ns()
            && !state.is_damaged
        {
            self.flush(slot, state, cur)?;
            state.seen_at = now;
            // A thousand files take a while, in which a thousand threads may begin.
            if Pool::free(&self.arena) < FEW_CHUNKS || self.pool.is_short_of_slots(&self.arena) {
                self.keep_ahead();
            }
        }
        Ok(false)
    }

    /// Tells losses that no chunk has told, in a packet without records.
    fn tell_losses(&self, slot: u32, state: &mut SlotState) -> Result<(), Stall> {
        let place = self.arena.slot(slot);
        let lost = self.possible_losses(place.lost().load(Ordering::Acquire));
        let told = state.account.told_lost;
        if lost.saturating_add(state.account.inherited) <= told || state.is_damaged {
            return Ok(());
        }
        if self.trace.was_full() && state.account.opened == 0 {
            // The room that is left is for records; all such threads share one stream.
            self.count_untold(state, lost.saturating_sub(told));
            return Ok(());
        }
        let last = place.last_lost().load(Ordering::Relaxed).max(state.account.last_end);
        let first = place.first_lost().load(Ordering::Relaxed).clamp(1, last.max(1));
        let begin = first.max(self.trace.shown());
        let draft = Draft {
            begin,
            end: last.max(begin),
            lost,
            losses: Some((first, last)),
            vpid: state.identity.vpid,
            vtid: state.identity.vtid,
            procname: state.identity.procname,
            is_kept: true,
            ..Draft::default()
        };
        let has_begun = state.account.opened != 0;
        match self.append(slot, state, &draft, |_| ()) {
            Ok(()) if !has_begun => {
                self.trace
                    .tallies
                    .lost_unbegun
                    .fetch_add(lost.saturating_sub(told), Ordering::Relaxed);
                Ok(())
            }
            Err(Stall::Never(why)) => {
                self.trace.add_problem(format!("losses of slot {slot} cannot be told: {why}"));
                self.count_untold(state, lost.saturating_sub(told));
                Ok(())
            }
            other => other,
        }
    }

    /// Losses that no packet has told yet: of threads that go on, and of those whose files
    /// cannot be written.
    pub fn pending_losses(&self) -> u64 {
        let pending = |slot| {
            let place = self.arena.slot(slot);
            let guard = self.slot(slot)?;
            let state = guard.as_deref().filter(|one| !one.is_damaged && !one.is_counted)?;
            let is_claimed = place.claimed().load(Ordering::Acquire) != 0;
            let lost = if is_claimed { place.lost().load(Ordering::Acquire) } else { 0 };
            let lost = self.possible_losses(lost);
            Some(
                lost.saturating_add(state.account.inherited)
                    .saturating_sub(state.account.told_lost),
            )
        };
        (1..=self.slots_in_use()).filter_map(pending).fold(0, u64::saturating_add)
    }

    /// Counts losses that no stream of their thread tells as those of threads without a slot:
    /// in the arena, where they still are when the collector was killed.
    fn count_untold(&self, state: &mut SlotState, lost: u64) {
        if !state.is_counted {
            state.is_counted = true;
            self.arena.shared().lost().fetch_add(lost, Ordering::Relaxed);
        }
    }

    /// Writes what is left of a thread that has ended, and makes its slot free.
    pub fn end(&self, slot: u32, state: &mut SlotState) -> Result<bool, Stall> {
        if !self.trace.is_kept {
            self.drain(slot, state, Reach::Everything)?;
            self.tell_losses(slot, state)?;
        }
        self.free_chunks(slot, state);
        self.clear(slot);
        // Who goes on with the stream writes behind what the account says: two slots that had it
        // would not be believed, should this collector be killed.
        if state.account.opened != 0 {
            let thread = self.told_identity(state);
            self.trace.streams().end(self.number, thread, state.account);
        }
        Ok(true)
    }

    /// Makes a slot one that was never used, for the next thread.
    pub fn clear(&self, slot: u32) {
        let place = self.arena.slot(slot);
        place.claimed().store(0, Ordering::Release);
        let ledger = self.arena.ledger(slot);
        for word in [ledger.taken_from(), ledger.taken_to(), place.gone()] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [place.cur(), place.lost(), place.first_lost(), place.last_lost()] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [place.taken(), place.popped(), place.waiting(), place.flags()] {
            word.store(0, Ordering::Relaxed);
        }
        self.arena.note(slot, &Account::default());
        self.arena.accounts().store_counts(slot, Counts::default());
        ledger.given().store(0, Ordering::Relaxed);
        ledger.returned().store(0, Ordering::Relaxed);
        ledger.consumed().store(0, Ordering::Relaxed);
        ledger.generation().fetch_add(1, Ordering::Relaxed);
        self.free_slot(slot);
    }

    fn free_slot(&self, slot: u32) {
        if let Err(error) = self.arena.make_life(slot) {
            self.trace.add_problem(format!("slot {slot} cannot be used again: {error}"));
            return;
        }
        Pool::free_slot(&self.arena, slot);
        Pool::wake_for_slots(&self.arena, 1);
    }

    /// Slots with complete chunks.
    pub fn pressed_slots(&self) -> usize {
        if self.trace.is_kept {
            return 0;
        }
        let is_pressed = |slot: &u32| {
            let cur = self.arena.slot(*slot).cur().load(Ordering::Relaxed);
            cur >> 32 > self.arena.ledger(*slot).drained_seq().load(Ordering::Relaxed) + 1
        };
        (1..=self.slots_in_use()).filter(is_pressed).count()
    }

    /// Threads that have a slot and live, as far as the last pass knows.
    pub fn live_slots(&self) -> Vec<LiveSlot> {
        self.taken_slots(|place| !place.has_died())
    }

    /// The same, and those that have ended and of which not all is written yet.
    pub fn unfinished_slots(&self) -> Vec<LiveSlot> {
        self.taken_slots(|_| true)
    }

    fn taken_slots(&self, is_wanted: impl Fn(&Slot<'_>) -> bool) -> Vec<LiveSlot> {
        let mut found = Vec::new();
        for slot in 1..=self.slots_in_use() {
            let place = self.arena.slot(slot);
            let is_thread = self.arena.cpu_of(slot).is_none();
            if !is_thread || place.claimed().load(Ordering::Acquire) == 0 || !is_wanted(&place) {
                continue;
            }
            let identity = match self.slot(slot).as_deref() {
                Some(Some(state)) => state.identity,
                _ => self.first_look(slot).identity,
            };
            found.push(LiveSlot { slot, identity });
        }
        found
    }

    /// Takes all threads of a process for ended: somebody has looked.
    pub fn forget_process(&self, vpid: u32, pid_namespace: u64) {
        for one in self.live_slots() {
            if (one.identity.vpid, one.identity.pid_namespace) == (vpid, pid_namespace) {
                self.forget(one.slot);
            }
        }
    }

    /// Takes all threads for ended.
    pub fn forget_all(&self) {
        for one in self.live_slots() {
            self.forget(one.slot);
        }
    }

    fn forget(&self, slot: u32) {
        if let Some(mut guard) = self.slot(slot) {
            let state = guard.get_or_insert_with(|| Box::new(self.first_look(slot)));
            state.is_gone = true;
        }
        self.look_at.store(0, Ordering::Relaxed);
    }
}
