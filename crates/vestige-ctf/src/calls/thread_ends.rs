//! Where threads end: what is open then has no exit, or goes on behind a range of time.
//!
//! A thread that is killed makes no more records, and nothing says when that was. What it had
//! open has the time up to its last record, whichever part of the trace is read: the end of a
//! range cuts a call only where its thread is known to go on behind it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::fold::CallFold;
use super::process::ThreadKey;
use super::scan::{Choice, Seen, NO_STREAM};
use super::thread::Thread;
use crate::stream::{batches_behind, DataStream};

impl CallFold {
    /// Tells which data streams are read, for what is open where a range of time ends: a
    /// thread whose data stream ends before that does not go on.
    pub fn know_streams(&mut self, streams: Vec<Arc<DataStream>>) {
        self.streams = streams;
    }

    /// The threads with open calls of which their data streams do not tell whether they go on:
    /// process space, process ID and thread ID. Other threads share these.
    #[must_use]
    pub fn open_threads(&self) -> Vec<(u32, i32, i32)> {
        let threads = self.threads.iter().zip(&self.keys);
        let is_open = |(thread, key): &(&Thread, &ThreadKey)| {
            key.0 == NO_STREAM && thread.depth > 0 && thread.known_last.is_none()
        };
        threads.filter(is_open).map(|(_, key)| (key.1, key.2, key.3)).collect()
    }

    /// Tells which of [`CallFold::open_threads`] go on behind the range of time.
    pub fn add_going_on(&mut self, threads: Vec<(u32, i32, i32)>) {
        self.going_on.extend(threads);
    }

    /// Ends all calls that are still open: they have no exit, or the range of time cuts
    /// them.
    pub fn finish(&mut self) {
        let end = self.fold.range.1;
        let is_cut = end < i64::MAX;
        let found = if is_cut { self.threads_behind(end) } else { HashSet::new() };
        for (thread, key) in self.threads.iter_mut().zip(&self.keys) {
            let goes_on = match thread.known_last {
                Some(last) => last > end,
                None if key.0 == NO_STREAM => self.going_on.contains(&(key.1, key.2, key.3)),
                None => found.contains(key),
            };
            thread.last_other = self.alive.of((key.0, key.3));
            if is_cut && goes_on {
                thread.finish_range(&mut self.fold);
            } else {
                thread.finish(&mut self.fold);
            }
        }
    }

    /// Which threads with open calls have records behind a time in data streams of their own.
    /// A data stream may be that of another thread when one has ended.
    fn threads_behind(&mut self, time: i64) -> HashSet<ThreadKey> {
        let mut open: HashMap<(u32, u32), HashSet<ThreadKey>> = HashMap::new();
        for (thread, key) in self.threads.iter().zip(&self.keys) {
            if key.0 != NO_STREAM && thread.depth > 0 && thread.known_last.is_none() {
                open.entry((key.0, key.1)).or_default().insert(*key);
            }
        }
        let mut found = HashSet::new();
        for stream in std::mem::take(&mut self.streams) {
            let layout = self.scan.layout(&stream);
            let number = layout.thread_stream().unwrap_or(NO_STREAM);
            let Some(left) = open.get_mut(&(number, stream.identity.process_space)) else {
                continue;
            };
            for batch in batches_behind(&stream, time) {
                let parts = (0..).zip(batch.parts());
                let has_records = |index| batch.start_of_part(index) < batch.end_of_part(index);
                for (_, part) in parts.filter(|(index, _)| has_records(*index)) {
                    let base = layout.shared(&batch, part).base;
                    found.extend(left.iter().filter(|key| is_of(&base, key)));
                    left.retain(|key| !is_of(&base, key));
                }
                if left.is_empty() {
                    break;
                }
            }
        }
        found
    }

    /// Takes note that a thread with a data stream of its own has made a record that is no
    /// entry and no exit: it was still there.
    pub(super) fn note_alive(&mut self, one: &Seen) {
        if one.stream != NO_STREAM && one.choice != Choice::Outside {
            self.alive.note((one.stream, one.vtid), one.time);
        }
    }
}

/// Whether a record of which a packet tells so much is of a thread. Of which process it is may
/// only be told by its context.
fn is_of(base: &Seen, key: &ThreadKey) -> bool {
    base.vtid == key.3 && (base.vpid == key.2 || base.vpid < 0)
}
