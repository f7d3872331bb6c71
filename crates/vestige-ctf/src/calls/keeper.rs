//! What an index of traces is made of, kept while their calls are folded.

use super::process::{Process, ThreadKey};
use super::scan::{Kind, Seen};
use crate::intervals::blocks::EVENTS;
use crate::intervals::index_file::Row;
use crate::intervals::{Block, CheckPoints, Pyramid};
use crate::keyed_hash::KeyedMap;

/// How many origins of records are told apart.
const MOST_ROWS: usize = 1 << 18;

/// What is kept besides the calls: who made how many records, and when.
#[derive(Debug, Clone, Default)]
pub struct Keeper {
    /// Where a reading may begin.
    pub points: CheckPoints,
    /// Those of calls, and all others.
    pub(super) rows: [Rows; 2],
    pub(super) events: Pyramid,
    /// When processes executed other programs.
    pub ends: Vec<(i64, Process)>,
}

/// Who made records, in the order in which they were seen.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    indexes: KeyedMap<ThreadKey, usize>,
    last: Option<(ThreadKey, usize)>,
}

impl Rows {
    #[inline]
    fn add(&mut self, one: &Seen, last: i64, (records, entries): (u64, u64)) -> Option<usize> {
        let key = one.thread_key();
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => self.index(key, one.time)?,
        };
        let row = self.rows.get_mut(index)?;
        row.last = row.last.max(last);
        row.records += records;
        row.entries += entries;
        Some(index)
    }

    fn index(&mut self, key: ThreadKey, time: i64) -> Option<usize> {
        let next = self.rows.len();
        let index = match self.indexes.get(&key) {
            Some(&index) => index,
            None if next >= MOST_ROWS => return None,
            None => {
                self.indexes.insert(key, next);
                self.rows.push(Row { key, first: time, last: time, records: 0, entries: 0 });
                next
            }
        };
        self.last = Some((key, index));
        Some(index)
    }
}

impl Keeper {
    /// Gives the thread of a first entry or exit its row: rows have the order of threads.
    pub fn meet(&mut self, one: &Seen) {
        let [calls, _] = &mut self.rows;
        calls.index(one.thread_key(), one.time);
    }

    /// Adds entries and exits of a thread, given the first one, the time of the last one, and
    /// how many there are of all and of entries.
    pub fn add_calls(&mut self, first: &Seen, last: i64, counts: (u64, u64)) {
        let [calls, _] = &mut self.rows;
        calls.add(first, last, counts);
    }

    /// Adds a record.
    #[inline]
    pub fn add(&mut self, one: &Seen) {
        let [calls, others] = &mut self.rows;
        let is_entry = matches!(one.kind, Kind::Entry | Kind::EntryElsewhere);
        if is_entry || matches!(one.kind, Kind::Exit | Kind::ExitOfIp | Kind::ExitOfCall) {
            calls.add(one, one.time, (1, u64::from(is_entry)));
            return;
        }
        let Some(row) = others.add(one, one.time, (1, 0)) else { return };
        self.events.add(Block {
            row: row as u32,
            depth: 0,
            flags: 0,
            function: EVENTS,
            start: one.time,
            duration: 0,
            count: 1,
            busy: 0,
        });
    }
}
