//! The recorder's own threads: what they do is left out, as the kernel does it when it is asked.
//!
//! The kernel looks at each event of everybody then, so where these threads do little it is done
//! here (Linux, `kernel/trace/trace_events.c`, `event_filter_pid_*`, says what stays).

use std::collections::HashMap;

use crate::record_header::{event, number, thread};

/// Events of which a record stays whoever has caused it, by their IDs: always (`None`), or where the
/// thread at a place in it is not one of these.
pub type Others = HashMap<u16, Option<usize>>;

/// Threads, each from a value of the clock on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnThreads {
    threads: Vec<(i32, u64)>,
    /// A bit for each of the lowest six bits that IDs have: most threads are none of these.
    bits: u64,
}

impl OwnThreads {
    /// Leaves out a thread from a value of the clock on.
    pub fn add(&mut self, thread: i32, since: u64) {
        if !self.threads.iter().any(|(one, _)| *one == thread) {
            self.threads.push((thread, since));
            self.bits |= bit(thread);
        }
    }

    /// Whether a record is of one of them alone.
    #[must_use]
    pub fn has(&self, time: u64, record: &[u8], others: &Others) -> bool {
        let Some(who) = thread(record) else { return false };
        if self.bits & bit(who) == 0 || !self.knows(who, time) {
            return false;
        }
        match event(record).and_then(|id| others.get(&id)) {
            None => true,
            Some(None) => false,
            Some(Some(place)) => number(record, *place).is_some_and(|one| self.knows(one, time)),
        }
    }

    fn knows(&self, thread: i32, time: u64) -> bool {
        self.threads.iter().any(|(one, since)| *one == thread && *since <= time)
    }
}

fn bit(thread: i32) -> u64 {
    1 << (thread & 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(event: u32, thread: i32, other: i32) -> Vec<u8> {
        let words = [event.to_le_bytes(), thread.to_le_bytes(), other.to_le_bytes()];
        words.concat()
    }

    fn own() -> OwnThreads {
        let mut own = OwnThreads::default();
        own.add(70, 100);
        own.add(71, 0);
        own.add(71, 500);
        own
    }

    #[test]
    fn records_of_threads_are_left_out_from_a_time_on() {
        let (own, others) = (own(), Others::new());
        let has = |time, thread| own.has(time, &record(1, thread, 0), &others);

        assert!(has(100, 70) && has(7, 71));
        // The lowest bits of the last are those of the first.
        assert!(!has(99, 70) && !has(100, 72) && !has(100, 6));
        assert!(!own.has(100, &[1, 0, 0, 0, 70], &others));
        assert!(!OwnThreads::default().has(100, &record(1, 70, 0), &others));
    }

    #[test]
    fn what_concerns_others_stays() {
        let (own, others) = (own(), Others::from([(2, Some(8)), (3, None)]));

        assert!(own.has(100, &record(2, 70, 71), &others));
        assert!(!own.has(100, &record(2, 70, 9), &others));
        // The thread that it concerns was not one of these yet.
        assert!(!own.has(99, &record(2, 71, 70), &others));
        assert!(!own.has(100, &record(3, 70, 71), &others));
        assert!(!own.has(100, &record(2, 70, 71)[..8], &others));
    }
}
