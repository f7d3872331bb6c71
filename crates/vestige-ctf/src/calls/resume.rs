//! What is open at a point of time, as bytes, and readings that begin there.

use std::collections::HashMap;
use std::sync::Arc;

use super::alive::OwnThread;
use super::fold::{CallFold, Lost};
use super::keeper::Keeper;
use super::process::{Process, END_OF_PROCESS};
use super::scan::{CallEvents, NO_STREAM};
use super::thread::{Fold, Frame, Thread};
use super::tree::AFTER_LOSS;
use crate::intervals::addresses::{Address, Addresses};
use crate::intervals::function_ids::FunctionIds;
use crate::intervals::index_file::{IntervalIndex, Row};
use crate::intervals::packing::{put, put_signed, Unpacker};
use crate::intervals::{CheckPoints, Pyramid};
use crate::muxer::{Merge, Notice};
use crate::stream::{packet_around, DataStream};

impl CallFold {
    /// Keeps what an index of the traces is made of, with so many records between two points
    /// where a reading may begin; to be told before the first merge.
    pub fn keep_intervals(&mut self, every: u64) {
        let points = CheckPoints::new(every);
        self.keeper = Some(Box::new(Keeper { points, ..Keeper::default() }));
        self.numbers_streams = true;
        self.scan.tell_all();
        self.sinks().pyramid = Some(Pyramid::default());
        self.fold.tree.addresses = Some(Addresses::default());
    }

    /// Gives away the index, once everything is folded; `facts` is what it says of functions
    /// and threads, and `ids` has the function for each number of the fold. Of data streams that
    /// grow, `streams` has what is in their order when they are read again; `None` is one of
    /// which nothing was read.
    pub fn take_index(
        &mut self,
        facts: Vec<u8>,
        ids: Vec<u32>,
        streams: Option<&[Option<Arc<DataStream>>]>,
    ) -> Option<IntervalIndex> {
        let Keeper { mut points, rows: [mut calls, mut others], mut events, ends } =
            *self.keeper.take()?;
        if let Some(streams) = streams {
            let numbers: HashMap<u32, u32> = (0..)
                .zip(streams)
                .filter_map(|(place, stream)| Some((self.stream_number(stream.as_ref()?), place)))
                .collect();
            for row in calls.rows.iter_mut().chain(&mut others.rows) {
                row.key.0 = numbers.get(&row.key.0).copied().unwrap_or(NO_STREAM);
            }
        }
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

impl CallFold {
    /// Makes a point of time where the merge begins, if there should be one.
    pub(super) fn check(&mut self, merge: &Merge) {
        let Some(points) = self.keeper.as_mut().map(|keeper| &mut keeper.points) else { return };
        let times = merge.runs.iter().filter_map(|run| {
            let (batch, records) = merge.run(run)?;
            let (first, last) = (records.first()?, records.last()?);
            Some((batch.nanoseconds(first), batch.nanoseconds(last)))
        });
        let range = times.fold(None, |range: Option<(i64, i64)>, (first, last)| {
            let (earliest, latest) = range.unwrap_or((first, last));
            Some((earliest.min(first), latest.max(last)))
        });
        let Some((earliest, latest)) = range else { return };
        if !points.is_due(merge.records as u64, earliest, latest) {
            return;
        }
        let state = self.state();
        if let Some(keeper) = &mut self.keeper {
            keeper.points.add(earliest, state);
        }
    }

    /// What is open.
    fn state(&self) -> Vec<u8> {
        let mut into = Vec::new();
        for thread in &self.threads {
            let lost = self.untold_loss(thread.row);
            if thread.is_idle() && lost.is_none() {
                continue;
            }
            put(&mut into, u64::from(thread.row));
            put(&mut into, u64::from(lost.is_some()));
            if let Some((time, until)) = lost {
                put_signed(&mut into, time.unwrap_or(i64::MIN));
                put_signed(&mut into, until.unwrap_or(i64::MIN));
            }
            thread.write(&mut into);
        }
        into
    }

    /// A fold of what is in a range of time, first and last time, of a trace of which there
    /// is an index. Returns from when on the trace is to be read, too: all of it, if that is
    /// `None`.
    #[must_use]
    pub fn resume(
        events: CallEvents,
        index: &IntervalIndex,
        range: (i64, i64),
    ) -> (Self, Option<i64>) {
        // Process images are known already.
        let events = CallEvents { states: Vec::new(), codes: Vec::new(), ..events };
        let mut fold = Self::new(events, None);
        fold.set_range(Some(range.0), Some(range.1));
        fold.numbers_streams = true;
        let point = index.points.before(range.0);
        let from = point.map(|point| point.time);
        let others = other_ends(index);
        for row in &index.threads {
            fold.add_row(row, others.get(&(row.key.0, row.key.3)).copied());
        }
        fold.ids = Some(index.ids.clone());
        fold.know_addresses(index, from.unwrap_or(i64::MIN), range.1);
        for ((space, vpid), site, function) in &index.sites {
            fold.fold.tree.add_site((*space, *vpid), *site, *function);
        }
        if let Some(point) = point {
            fold.restore(&point.state);
        }
        fold.resumed = from;
        (fold, from)
    }

    /// Whether the point from which on it goes on knows of a loss already: that is told where
    /// its packet begins, again if the point is within the packet.
    pub(super) fn is_known_loss(&self, stream: &Arc<DataStream>, notice: &Notice) -> bool {
        let (Some(point), Notice::Lost(lost)) = (self.resumed, notice) else { return false };
        // What reaches into the range of time is told from there on.
        if lost.beginning.is_none_or(|cycles| stream.nanoseconds(cycles) > point) {
            return false;
        }
        let packet = packet_around(stream, point).and_then(|index| stream.entry(index));
        packet.is_some_and(|packet| lost.end <= packet.end)
    }

    fn add_row(&mut self, row: &Row, last_other: Option<i64>) {
        let (_, space, vpid, vtid) = row.key;
        let root = self.fold.tree.add_root();
        let index = self.threads.len();
        let mut thread = Thread::new((space, vpid), vtid, (index as u32, root), row.first);
        thread.known_last = Some(row.last).max(last_other);
        self.threads.push(thread);
        self.keys.push(row.key);
        self.indexes.insert(row.key, index);
    }

    /// Takes over what is where from a time on, and what gets there up to another one.
    fn know_addresses(&mut self, index: &IntervalIndex, from: i64, until: i64) {
        let all: &[Address] = &index.addresses;
        let ends = index.ends.iter().filter(|end| end.0 >= from);
        let end = |&(time, process)| (time, process, 0, END_OF_PROCESS);
        let mut changes: Vec<(i64, Process, u64, u32)> = ends.map(end).collect();
        for one in all.iter().filter(|one| one.until > from && one.from <= until) {
            if one.from <= from {
                self.fold.tree.set_function(one.process, one.address, one.function);
            } else {
                changes.push((one.from, one.process, one.address, one.function));
            }
        }
        changes.sort_unstable();
        self.changes = changes.into_iter();
        // What nobody knows is none of those that come later.
        let count = all.iter().map(|one| one.function.saturating_add(1)).max();
        self.fold.tree.reserve_functions(count.unwrap_or(0));
    }

    /// What was lost that a thread does not know of yet: earliest and latest time.
    fn untold_loss(&self, row: u32) -> Option<(Option<i64>, Option<i64>)> {
        let thread = self.threads.get(row as usize)?;
        let key = self.keys.get(row as usize)?;
        let lost = self.lost.get(&(key.0, key.1))?;
        (lost.count > thread.known_losses).then_some((lost.time, lost.until))
    }

    fn restore(&mut self, state: &[u8]) -> Option<()> {
        let mut from = Unpacker::new(state);
        let mut in_the_dark = Vec::new();
        while !from.is_empty() {
            let row = from.small()?;
            let key = *self.keys.get(row as usize)?;
            if from.take()? != 0 {
                let times = [from.take_signed()?, from.take_signed()?];
                let [time, until] = times.map(|time| Some(time).filter(|&time| time != i64::MIN));
                self.lost.insert((key.0, key.1), Lost { count: 1, time, until });
                in_the_dark.push(row);
            }
            self.threads.get_mut(row as usize)?.read(&mut self.fold, &mut from)?;
        }
        self.loss_epoch = u64::from(!self.lost.is_empty());
        for (thread, key) in self.threads.iter_mut().zip(&self.keys) {
            if in_the_dark.binary_search(&thread.row).is_err() {
                thread.known_losses = self.lost.get(&(key.0, key.1)).map_or(0, |lost| lost.count);
            }
        }
        Some(())
    }
}

/// When threads with data streams of their own made their last record that is neither an entry
/// nor an exit, see [`CallFold::note_alive`].
fn other_ends(index: &IntervalIndex) -> HashMap<OwnThread, i64> {
    let own = index.others.iter().filter(|row| row.key.0 != NO_STREAM);
    let mut ends = HashMap::new();
    for row in own {
        let last = ends.entry((row.key.0, row.key.3)).or_insert(row.last);
        *last = row.last.max(*last);
    }
    ends
}

impl Thread {
    /// Whether nothing is open, and nothing is in doubt.
    fn is_idle(&self) -> bool {
        self.stack.is_empty() && self.hidden == 0 && self.doubt.is_none()
    }

    fn write(&self, into: &mut Vec<u8>) {
        put(into, self.hidden);
        put_signed(into, self.since);
        put_signed(into, self.last);
        put_signed(into, self.doubt.unwrap_or(i64::MIN));
        put(into, self.marks);
        put(into, u64::from(self.exits_are_named));
        put(into, self.stack.len() as u64);
        for frame in &self.stack {
            let flags = [frame.is_loss, frame.is_in_doubt, frame.is_shown];
            put(into, (0u64..).zip(flags).map(|(bit, flag)| u64::from(flag) << bit).sum());
            put_signed(into, frame.start);
            put(into, frame.address);
            put(into, frame.site);
            put(into, frame.losses);
        }
    }

    /// Reads what [`Thread::write`] wrote; what is open then is open here.
    fn read(&mut self, fold: &mut Fold, from: &mut Unpacker<'_>) -> Option<()> {
        self.hidden = from.take()?;
        self.since = from.take_signed()?;
        self.last = from.take_signed()?;
        self.doubt = Some(from.take_signed()?).filter(|&until| until != i64::MIN);
        self.marks = from.take()?;
        self.exits_are_named = from.take()? != 0;
        for _ in 0..from.count()? {
            let flags = from.take()?;
            let [is_loss, is_in_doubt, is_shown] = [0, 1, 2].map(|bit| flags & (1 << bit) != 0);
            let (start, address) = (from.take_signed()?, from.take()?);
            let (site, losses) = (from.take()?, from.take()?);
            let (caller, depth) = self.stack.last().map_or((self.root, 0), Frame::inside);
            let node = if is_loss {
                fold.tree.special(self.root, AFTER_LOSS)
            } else if is_shown {
                fold.tree.callee(caller, self.root, self.process, address)
            } else {
                caller
            };
            if is_shown && !is_loss {
                fold.tree.begin(node);
            }
            fold.frames += 1;
            let (inner, number) = (0, 0);
            self.stack.push(Frame {
                start,
                inner,
                address,
                site,
                number,
                node,
                is_loss,
                is_in_doubt,
                losses,
                is_shown,
                depth,
            });
        }
        Some(())
    }
}
