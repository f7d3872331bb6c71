//! Merging data streams no further than anybody can tell.
//!
//! Threads that run at the same time interleave record by record, and to sort that costs more
//! than to look at the records. Whoever follows each data stream for itself tells which event
//! record classes have no meaning to other data streams. As long as nothing else comes, what
//! stands before some place of the order is given out data stream by data stream.

use super::{run_end, Cursor, Head, Key, Merge, Muxer, Run, MERGE_RECORDS, RECORDED};
use crate::stream::{used_classes, Record};

/// So many records of each data stream, on average, are worth asking all of them.
const WORTHWHILE: usize = 16;

impl Muxer {
    /// Lets records of some classes of a data stream, by their indexes, come before or behind
    /// those of others; the order of each data stream stays.
    pub fn loosen(&mut self, index: usize, classes: &[bool]) {
        if let Some(cursor) = self.cursors.get_mut(index) {
            let of = |wanted: bool| {
                let all = (0u32..).zip(classes).filter(move |(_, &is_loose)| is_loose == wanted);
                used_classes(all.map(|(class, _)| class))
            };
            cursor.loose = of(true) & !of(false);
            self.is_loose |= cursor.loose != 0;
        }
    }

    /// Takes what stands before some place of the order, data stream by data stream. Returns
    /// whether that was worth it; without anything taken it was not.
    pub(super) fn take_loosely(&mut self, merge: &mut Merge) -> bool {
        let share = (MERGE_RECORDS / self.cursors.len().max(1)).max(1);
        let mut limit = None;
        for cursor in &self.cursors {
            match cursor.loose_end(share) {
                Some(Some(end)) => limit = Some(limit.map_or(end, |limit: Key| limit.min(end))),
                Some(None) => {}
                None => return false,
            }
        }
        let Some(limit) = limit else { return false };
        let before = merge.records;
        for cursor in &mut self.cursors {
            cursor.take_before(limit, merge);
        }
        if merge.records == before {
            return false;
        }
        merge.is_loose = true;
        self.heads.clear();
        self.unknown = (0..self.cursors.len()).rev().collect();
        merge.records - before >= WORTHWHILE * self.cursors.len()
    }
}

impl Cursor {
    /// The place of the order behind the next records, so many at most, that are of classes that
    /// are loose, and no notices; `Some(None)` where nothing comes any more.
    fn loose_end(&self, share: usize) -> Option<Option<Key>> {
        let (batch, start) = match &self.head {
            Head::Batch(batch, start, _) => (batch, *start),
            Head::Ended => return Some(None),
            Head::Notice(_) => return Some(self.time().map(|(time, at)| (time, at + self.rank))),
            Head::Reading(_) | Head::Waiting => return None,
        };
        if !batch.boundaries().is_empty() {
            return None;
        }
        let mut end = start.saturating_add(share).min(batch.records.len());
        if batch.used_classes() & !self.loose != 0 {
            let used = |record: &Record| used_classes([record.class].into_iter());
            let mut next = batch.records.get(start..end)?.iter();
            let ordered = next.position(|record| used(record) & !self.loose != 0);
            end = ordered.map_or(end, |ordered| start + ordered);
        }
        let key = |record: &Record| (batch.nanoseconds(record), RECORDED + self.rank);
        Some(Some(match batch.records.get(end) {
            Some(next) => key(next),
            None => {
                let (time, phase) = key(batch.records.last()?);
                (time, phase + 1)
            }
        }))
    }

    /// Moves records before a place of the order to a merge.
    fn take_before(&mut self, limit: Key, merge: &mut Merge) {
        let rank = self.rank;
        if self.time().is_none_or(|(time, phase)| (time, phase + rank) >= limit) {
            return;
        }
        let Head::Batch(batch, start, _) = &mut self.head else { return };
        let index = *self.merged_as.get_or_insert_with(|| merge.add_batch(batch));
        let mut part = batch.part_of_row(*start);
        while *start < batch.records.len() {
            let most = batch.end_of_part(part) - *start;
            let is_due = batch
                .records
                .get(*start)
                .is_some_and(|record| (batch.nanoseconds(record), RECORDED + rank) < limit);
            if !is_due {
                return;
            }
            let end = run_end(batch, *start, rank, Some(limit), most);
            let run = Run { batch: index, part, start: *start as u32, end: end as u32 };
            merge.add_run(batch, run);
            part += 1;
            if std::mem::replace(start, end) + most > end {
                return;
            }
        }
        self.advance();
    }
}
