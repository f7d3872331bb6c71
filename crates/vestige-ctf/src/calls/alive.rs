//! When threads were last seen, by records that are no calls.

use crate::keyed_hash::KeyedMap;

/// A data stream of threads alone, and the ID of one of these.
pub type OwnThread = (u32, i32);

/// When threads with data streams of their own made their last records that are no entries and
/// no exits.
#[derive(Debug, Clone, Default)]
pub struct Alive {
    times: Vec<i64>,
    indexes: KeyedMap<OwnThread, usize>,
    last: Option<(OwnThread, usize)>,
}

impl Alive {
    /// Takes note of such a record.
    pub fn note(&mut self, thread: OwnThread, time: i64) {
        let index = match self.last {
            Some((last, index)) if last == thread => index,
            _ => *self.indexes.entry(thread).or_insert_with(|| {
                self.times.push(time);
                self.times.len() - 1
            }),
        };
        self.last = Some((thread, index));
        if let Some(last) = self.times.get_mut(index) {
            *last = time.max(*last);
        }
    }

    /// When a thread made its last one.
    pub fn of(&self, thread: OwnThread) -> Option<i64> {
        self.times.get(*self.indexes.get(&thread)?).copied()
    }
}
