//! Programs that are not recorded, as the processes tell that start them.
//!
//! What a process writes is not trusted: it may say anything of itself, and say it again and again.

use std::mem::offset_of;
use std::sync::atomic::Ordering;

use crate::arena::Arena;
use crate::layout::{self, ARENA_UNREACHED, UNREACHED_WITHDRAWN};
use crate::views::Unreached as Entry;

/// Those that are kept; of more, only the number is.
const MOST_KEPT: usize = 100;
const ENTRY_BYTES: u64 = size_of::<layout::Unreached>() as u64;

/// A program that is not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreached {
    /// Its ID, 0 if it is not known.
    pub process: u32,
    /// That of the process that has started it, then.
    pub parent: u32,
    /// In which PID namespace that is its ID.
    pub pid_namespace: u64,
    /// As the agreement numbers reasons.
    pub reason: u32,
    pub name: String,
}

/// All of a recording.
#[derive(Clone, Debug, Default)]
pub struct AllUnreached {
    pub kept: Vec<Unreached>,
    pub more: u64,
}

impl AllUnreached {
    /// Reads what was told since `seen`, which grows.
    pub fn read(&mut self, arena: &Arena, seen: &mut u32) {
        let count = arena.shared().unreached_count().load(Ordering::Acquire);
        let missed = count.wrapping_sub(*seen).saturating_sub(ARENA_UNREACHED);
        self.skip(missed, seen);
        while *seen != count {
            let Some(found) = entry(arena, *seen) else { return };
            *seen = seen.wrapping_add(1);
            self.add(found);
        }
    }

    /// As `read`, when nobody writes any more: an entry that is not whole never will be.
    pub fn read_rest(&mut self, arena: &Arena, seen: &mut u32) {
        for _ in 0..ARENA_UNREACHED {
            self.read(arena, seen);
            if *seen == arena.shared().unreached_count().load(Ordering::Acquire) {
                return;
            }
            self.skip(1, seen);
        }
    }

    fn skip(&mut self, count: u32, seen: &mut u32) {
        *seen = seen.wrapping_add(count);
        self.more = self.more.saturating_add(u64::from(count));
    }

    fn add(&mut self, one: Unreached) {
        if one.reason == UNREACHED_WITHDRAWN {
            self.withdraw(&one);
        } else if self.kept.len() < MOST_KEPT {
            self.kept.push(one);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn withdraw(&mut self, one: &Unreached) {
        let is_same = |other: &Unreached| {
            (other.process, other.pid_namespace) == (one.process, one.pid_namespace)
        };
        match self.kept.iter().rposition(is_same) {
            Some(place) => drop(self.kept.remove(place)),
            None => self.more = self.more.saturating_sub(1),
        }
    }
}

/// What was told as the nth; none while somebody writes there.
fn entry(arena: &Arena, number: u32) -> Option<Unreached> {
    let shared = arena.geometry().shared_at + offset_of!(layout::Shared, unreached) as u64;
    let at = shared + u64::from(number % ARENA_UNREACHED) * ENTRY_BYTES;
    let place = Entry::new(arena.memory(), at);
    let is_whole = || place.number().load(Ordering::Acquire) == number.wrapping_add(1);
    if !is_whole() {
        return None;
    }
    let name = place.name();
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let found = Unreached {
        process: place.process().load(Ordering::Relaxed),
        parent: place.parent().load(Ordering::Relaxed),
        pid_namespace: place.pid_namespace().load(Ordering::Relaxed),
        reason: place.reason().load(Ordering::Relaxed),
        name: String::from_utf8_lossy(name).into_owned(),
    };
    is_whole().then_some(found)
}
