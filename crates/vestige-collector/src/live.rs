//! A recording that is watched while it is made: all that threads have recorded is written each
//! period, and a small file says until when that is all.
//!
//! A reader can put events of several threads in order only if it knows that nothing older is to
//! come. Of a thread that has recorded nothing there is no packet to tell that, so the file does.
//! It is [`NAME`] in the directory of the trace, of [`BYTES`] bytes: [`MAGIC`], a time by the
//! clock of the trace, and that time with all bits the other way, all in the order of the machine.

use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use crate::arenas::Arenas;
use crate::drain::Reach;
use crate::layout::RECORDS_AT;
use crate::pass::Found;
use crate::recording::Recording;

/// Hidden, so that readers of the trace leave it alone.
pub const NAME: &str = ".live";
/// How it begins.
pub const MAGIC: &[u8; 8] = b"VESTLIV1";
/// So long is it.
pub const BYTES: usize = 24;

/// Where a thread is: the number of its chunk, and what is committed there.
struct Reached {
    seq: u64,
    committed: u32,
}

impl Arenas {
    /// Writes what all threads have recorded, and tells until when that is all: until a time by
    /// the clock of the trace, which was some milliseconds ago. Whoever had read the clock for a
    /// record then, and was interrupted, has completed it.
    ///
    /// What a disk refuses, or a thread has not completed, holds the time back.
    pub fn show(&self, time: u64) {
        if self.trace.is_stalled() {
            return;
        }
        let all = self.all();
        let until = all.iter().fold(time, |until, one| until.min(one.show(until)));
        if self.trace.begin_showing(until) {
            // A viewer sees then what is in files, only later.
            let _ = self.tell_until(until);
        }
    }

    fn tell_until(&self, until: u64) -> io::Result<()> {
        let flags = libc::O_WRONLY | libc::O_CREAT;
        let file = self.trace.files.folder().open_file(NAME, flags)?;
        let mut bytes = [0; BYTES];
        let words = [MAGIC, &until.to_ne_bytes(), &(!until).to_ne_bytes()];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(word);
        }
        file.write_all_at(&bytes, 0)
    }

    /// Takes the file away: nobody needs it of a recording that has ended.
    pub fn hide(&self) {
        // Most have none.
        if self.trace.timers.live_ns != 0 {
            let _ = self.trace.files.folder().remove(NAME);
        }
    }
}

impl Recording {
    /// Writes what its threads have recorded; the time before which nothing is left of what they
    /// had recorded at the beginning, `now` at most.
    fn show(&self, now: u64) -> u64 {
        let mut found = Found::default();
        let slots = 1..=self.slots_in_use();
        slots.fold(now, |until, slot| until.min(self.show_slot(slot, now, &mut found)))
    }

    fn show_slot(&self, slot: u32, now: u64, found: &mut Found) -> u64 {
        if self.arena.slot(slot).claimed().load(Ordering::Acquire) == 0 && !self.has_died(slot) {
            return now;
        }
        let reached = self.reached(slot);
        self.visit(slot, Reach::Snapshot, found);
        let guard = self.slot(slot);
        // It has ended, and all of it is in files.
        let Some(state) = guard.as_ref().and_then(|one| one.as_deref()) else { return now };
        let account = &state.account;
        let next = account.drained_seq.wrapping_add(1);
        let is_written = reached.seq < next
            || reached.seq == next && reached.committed <= account.flushed.max(RECORDS_AT);
        if is_written || state.is_damaged {
            now
        } else {
            account.last_end
        }
    }

    /// What is claimed of a chunk that does not exist is not looked at.
    fn reached(&self, slot: u32) -> Reached {
        let cur = self.arena.slot(slot).cur().load(Ordering::Acquire);
        let chunk = cur as u32;
        let is_there = chunk != 0 && chunk <= self.pool.ready();
        let committed =
            if is_there { self.arena.chunk(chunk).committed().load(Ordering::Acquire) } else { 0 };
        Reached { seq: cur >> 32, committed: committed.min(self.arena.geometry().chunk_bytes) }
    }
}
