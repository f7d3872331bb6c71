//! Folding merges whose records are read where they are.

use std::collections::HashSet;
use std::sync::Arc;

use super::fold::{CallFold, CallSite, UNWANTED};
use super::plain::{Doing, Piece, PlainMerge};
use super::scan::{Kind, Seen};
use super::thread::Leaving;
use crate::places::StateRecord;
use crate::record::State;
use crate::stream::{DataStream, Record};

impl CallFold {
    /// For each event record class of a data stream, whether its records may come before or
    /// behind those of other data streams: where nothing is noted of the order of calls of
    /// several threads, what happens in one of them has no meaning to others, unless it changes a
    /// process image. With `only_calls`, nothing but entries and exits is of these classes. Where
    /// functions change at times that are known before, all has to be in order.
    pub fn loose_classes(&mut self, stream: &Arc<DataStream>, only_calls: bool) -> Vec<bool> {
        let class = stream.trace.stream_classes.get(stream.class);
        let count = class.map_or(0, |class| class.event_classes.len());
        let layout = self.layouts.of(stream, &mut self.scan);
        let layout = layout.filter(|_| self.changes.as_slice().is_empty());
        layout.map_or_else(|| vec![false; count], |layout| layout.loose_classes(only_calls))
    }

    /// Numbers threads that are new, up to the next loss of a merge that is loose, as if it were
    /// in order.
    fn meet_threads(&mut self, records: usize) {
        let loss = self.losses.get(self.next_loss);
        self.met = loss.map_or(records, |loss| loss.position.min(records));
        let mut new: Vec<Seen> = Vec::new();
        let (mut cursor, mut position, end) = (self.cursor, self.position, self.met);
        while position < end {
            let next = |plain: &mut PlainMerge| plain.piece(&mut cursor, position, end);
            let Some(piece) = self.plain.as_mut().and_then(next) else { break };
            position += piece.records().len();
            let base = &piece.packet.base;
            let is_known = self.indexes.contains_key(&base.thread_key())
                || new.iter().any(|one| one.thread_key() == base.thread_key());
            let is_call = |record: &&Record| piece.doing(record) != Doing::Other;
            let first = piece.records().iter().find(is_call).filter(|_| !is_known);
            if let Some(first) = first {
                new.push(Seen { time: piece.batch.nanoseconds(first), ..*base });
            }
        }
        new.sort_by_key(|one| one.time);
        for one in &new {
            self.thread(one);
            if let Some(keeper) = &mut self.keeper {
                keeper.meet(one);
            }
        }
    }

    /// Goes on in a merge that is plain, as [`CallFold::advance`] does.
    pub(super) fn advance_plain(&mut self, end: Option<usize>) -> Option<StateRecord> {
        let (records, is_loose) =
            self.plain.as_ref().map_or((0, false), |plain| (plain.records, plain.is_loose));
        let end = end.map_or(records, |end| end.clamp(self.position, records));
        while self.position < end {
            let Some(plain) = &mut self.plain else { break };
            let piece = plain.piece(&mut self.cursor, self.position, end);
            let Some(piece) = piece else { break };
            self.apply_losses(self.position);
            if is_loose && self.position >= self.met {
                self.meet_threads(records);
            }
            let stop = self.add_piece(&piece);
            if stop.is_some() {
                return stop;
            }
            self.note_last(&piece);
        }
        if end == records {
            self.apply_losses(usize::MAX);
            if let Some(plain) = &mut self.plain {
                plain.finish();
            }
        }
        None
    }

    /// Takes note of the last record of a packet so far.
    fn note_last(&mut self, piece: &Piece) {
        let last = piece.records().last().filter(|last| piece.doing(last) == Doing::Other);
        if let Some(last) = last {
            let time = piece.batch.nanoseconds(last);
            self.note_alive(&Seen { time, ..piece.packet.base });
        }
    }

    /// Adds records of a packet, up to one that may change a process image.
    fn add_piece(&mut self, piece: &Piece) -> Option<StateRecord> {
        let mut records = piece.records();
        loop {
            let count = self.add_calls(piece, records);
            self.position += count;
            let (record, rest) = records.get(count..)?.split_first()?;
            let one = self.other(piece, record);
            let stop = self.take(self.position, &one);
            if stop.is_some() {
                return stop;
            }
            self.position += 1;
            records = rest;
        }
    }

    /// What a record tells that is not quickly read.
    fn other(&mut self, piece: &Piece, record: &Record) -> Seen {
        let (layout, mut told) = (&piece.layout.layout, Vec::new());
        let mut state = State::new(0);
        if layout.class(record.class as usize).is_some_and(|(kind, _)| kind != Kind::Nothing) {
            state = piece.batch.part(piece.run.part).state();
        }
        let one = piece.packet.read(layout, &piece.batch, record, &mut state, &mut told);
        self.told = told.into_iter();
        one
    }

    /// Adds the entries and exits in front of anything else. Returns how many these are.
    fn add_calls(&mut self, piece: &Piece, records: &[Record]) -> usize {
        let is_call = |record: &Record| piece.doing(record) != Doing::Other;
        let Some(first) = records.first().filter(|first| is_call(first)) else { return 0 };
        let first = Seen { time: piece.batch.nanoseconds(first), ..piece.packet.base };
        let found = self.thread(&first);
        let (count, entries) = match found {
            Some(index) if index != UNWANTED => self.add_to_thread(index, &first, piece, records),
            _ => {
                let calls = records.iter().take_while(|record| is_call(record));
                let entries = calls.clone().filter(|one| piece.doing(one) == Doing::Enter);
                (calls.clone().count(), entries.count())
            }
        };
        self.number += count as u64;
        self.calls += if found == Some(UNWANTED) { 0 } else { count as u64 };
        self.left_out += if found.is_none() { count as u64 } else { 0 };
        if let Some(keeper) = &mut self.keeper {
            let last = count.checked_sub(1).and_then(|last| records.get(last));
            let last = last.map_or(first.time, |last| piece.batch.nanoseconds(last));
            keeper.add_calls(&first, last, (count as u64, entries as u64));
        }
        count
    }

    /// Adds entries and exits of a thread. Returns how many these are, and how many entries.
    fn add_to_thread(
        &mut self,
        index: usize,
        first: &Seen,
        piece: &Piece,
        records: &[Record],
    ) -> (usize, usize) {
        if self.threads.get(index).is_some_and(|thread| thread.loss_epoch != self.loss_epoch) {
            self.tell_losses(index, first);
        }
        let (fold, number) = (&mut self.fold, self.number);
        let Some(thread) = self.threads.get_mut(index) else { return (0, 0) };
        thread.choice = first.choice;
        let (batch, data) = (&piece.batch, &piece.batch.data[..]);
        let (mut count, mut entries) = (0, 0);
        for record in records {
            let Some(class) = piece.layout.class(record) else { break };
            let (time, number) = (batch.nanoseconds(record), number + count as u64);
            let what = match class.doing {
                Doing::Enter => {
                    let (address, site) = class.call(data, record);
                    fold.be_patient();
                    thread.enter(fold, address, site, time, number);
                    (count, entries) = (count + 1, entries + 1);
                    continue;
                }
                Doing::Leave => {
                    thread.exits_are_named = false;
                    Leaving::Innermost
                }
                Doing::LeaveCall => {
                    let (address, site) = class.call(data, record);
                    Leaving::Call(address, site)
                }
                Doing::Other => break,
            };
            fold.be_patient();
            thread.leave(fold, what, time, number);
            count += 1;
        }
        (count, entries)
    }

    /// The call sites, up to the next stop, of which nothing is known yet.
    pub(super) fn take_plain_sites(&mut self) -> Vec<CallSite> {
        let (mut found, mut known) = (Vec::new(), HashSet::new());
        let (mut cursor, mut position) = (self.cursor, self.position);
        loop {
            let next = |plain: &mut PlainMerge| plain.piece(&mut cursor, position, plain.records);
            let Some(piece) = self.plain.as_mut().and_then(next) else { return found };
            let records = if piece.is_notable() { piece.records() } else { &[] };
            for (index, record) in (position..).zip(records) {
                if !piece.layout.is_notable(record) {
                    continue;
                }
                let one = self.other(&piece, record);
                match one.kind {
                    Kind::State if index > self.position || !self.applied => return found,
                    Kind::Entry => self.need_site(&one, &mut known, &mut found),
                    _ => {}
                }
            }
            position += piece.records().len();
        }
    }
}
