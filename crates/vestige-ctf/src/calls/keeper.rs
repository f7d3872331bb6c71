//! What an index of traces is made of, kept while their calls are folded.

use std::collections::HashMap;

use super::fold::{CallFold, ThreadKey};
use super::process::Process;
use super::scan::{Kind, Seen};
use crate::intervals::addresses::Addresses;
use crate::intervals::blocks::EVENTS;
use crate::intervals::function_ids::FunctionIds;
use crate::intervals::index_file::Row;
use crate::intervals::{Block, CheckPoints, IntervalIndex, Pyramid};

/// How many origins of records are told apart.
const MOST_ROWS: usize = 1 << 18;

/// What is kept besides the calls: who made how many records, and when.
#[derive(Debug, Default)]
pub struct Keeper {
    /// Where a reading may begin.
    pub points: CheckPoints,
    /// Those of calls, and all others.
    rows: [Rows; 2],
    events: Pyramid,
    /// When processes executed other programs.
    pub ends: Vec<(i64, Process)>,
}

/// Who made records, in the order in which they were seen.
#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    indexes: HashMap<ThreadKey, usize>,
    last: Option<(ThreadKey, usize)>,
}

impl Rows {
    #[inline]
    fn add(&mut self, one: &Seen, is_entry: bool) -> Option<usize> {
        let key = (one.stream, one.space, one.vpid, one.vtid);
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => self.index(key, one.time)?,
        };
        let row = self.rows.get_mut(index)?;
        row.last = row.last.max(one.time);
        row.records += 1;
        row.entries += u64::from(is_entry);
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
    /// Adds a record.
    #[inline]
    pub fn add(&mut self, one: &Seen) {
        let [calls, others] = &mut self.rows;
        let is_entry = matches!(one.kind, Kind::Entry | Kind::EntryElsewhere);
        if is_entry || matches!(one.kind, Kind::Exit | Kind::ExitOfIp | Kind::ExitOfCall) {
            calls.add(one, is_entry);
            return;
        }
        let Some(row) = others.add(one, false) else { return };
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

impl CallFold {
    /// Keeps what an index of the traces is made of, with so many records between two points
    /// where a reading may begin; to be told before the first merge.
    pub fn keep_intervals(&mut self, every: u64) {
        let points = CheckPoints::new(every);
        self.keeper = Some(Box::new(Keeper { points, ..Keeper::default() }));
        self.numbers_streams = true;
        self.sinks().pyramid = Some(Pyramid::default());
        self.fold.tree.addresses = Some(Addresses::default());
    }

    /// Gives away the index, once everything is folded; `facts` is what it says of functions
    /// and threads, and `ids` has the function for each number of the fold.
    pub fn take_index(&mut self, facts: Vec<u8>, ids: Vec<u32>) -> Option<IntervalIndex> {
        let Keeper { mut points, rows: [calls, others], mut events, ends } = *self.keeper.take()?;
        let addresses = self.fold.tree.addresses.take()?.take().unwrap_or_else(|| {
            // Too many to say what is where: a reading begins at the beginning.
            points = CheckPoints::default();
            Vec::new()
        });
        let pyramid = self.sinks().pyramid.take();
        let sites = self.fold.tree.known_sites().collect();
        let levels = pyramid.map(|mut pyramid| pyramid.finish()).unwrap_or_default();
        let threads = calls.rows;
        let others = others.rows;
        let events = events.finish();
        let ids = FunctionIds::new(ids);
        Some(IntervalIndex {
            facts,
            ids,
            threads,
            others,
            addresses,
            sites,
            ends,
            points,
            calls: levels,
            events,
        })
    }
}
