//! The recorder's own threads: what they do is left out, as the kernel does it when it is asked.
//!
//! The kernel looks at each event of everybody then, so where these threads do little it is done
//! here (Linux, `kernel/trace/trace_events.c`, `event_filter_pid_*`, says what stays).

use std::collections::HashMap;

use crate::record_header::{event, number, thread};

/// Events of which a record stays whoever has caused it, by their IDs: always (`None`), or where the
/// thread at a place in it is not one of these.
pub type Others = HashMap<u16, Option<usize>>;

/// Threads, each from a value of the clock on, up to another one once it has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnThreads {
    threads: Vec<Own>,
    /// A bit for each of the lowest six bits that IDs have: most threads are none of these.
    bits: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Own {
    thread: i32,
    since: u64,
    until: u64,
}

/// Until when a thread is left out that has not ended.
const NO_END: u64 = u64::MAX;

impl OwnThreads {
    /// Leaves out a thread from a value of the clock on; what was told before changes nothing.
    pub fn add(&mut self, thread: i32, since: u64) {
        let mut known = self.threads.iter().filter(|one| one.thread == thread);
        if !known.any(|one| one.until == NO_END || one.since == since) {
            self.threads.push(Own { thread, since, until: NO_END });
            self.bits |= bit(thread);
        }
    }

    /// Leaves out a thread no more: it has ended, and its ID may be that of another one.
    pub fn end(&mut self, thread: i32, until: u64) {
        let all = self.threads.iter_mut();
        for one in all.filter(|one| one.thread == thread && one.until == NO_END) {
            one.until = until;
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
        let is_it = |one: &Own| one.thread == thread && (one.since..one.until).contains(&time);
        self.threads.iter().any(is_it)
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
    fn who_gets_the_id_of_one_that_has_ended_is_not_left_out() {
        let (mut own, others) = (own(), Others::new());
        own.end(70, 200);
        own.end(72, 200);
        // Told with all others once more.
        own.add(70, 100);
        let has = |own: &OwnThreads, time| own.has(time, &record(1, 70, 0), &others);

        assert!(has(&own, 199) && !has(&own, 200) && own.has(900, &record(1, 71, 0), &others));
        own.add(70, 300);
        own.end(70, 400);
        assert!(has(&own, 150) && !has(&own, 299) && has(&own, 300) && !has(&own, 400));
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
