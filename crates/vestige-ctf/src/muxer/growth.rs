//! Data streams that grow while they are merged.
//!
//! Such a data stream comes in parts: some packets each. Between two of them nobody knows what
//! comes next, but mostly from when on: until that time the others go on without it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{read_ahead, Ahead, Cursor, Head, Muxer, GATHERED_AT_ONCE, READ_HERE};
use crate::stream::{DataStream, Selection, StreamReader};

/// How many items of a data stream that grows are read at once.
const ITEMS: usize = 1;

/// What is to come of a data stream.
pub(super) struct Growth {
    /// The reader, behind the last part that was read.
    reader: Option<StreamReader>,
    parts: VecDeque<(Arc<DataStream>, Selection)>,
    /// Nothing before this time is still to come, nanoseconds from the origin.
    certain: i64,
    has_ended: bool,
}

impl Growth {
    /// The head behind all that was read.
    fn next_head(&mut self) -> Head {
        match (self.parts.pop_front(), self.reader.take()) {
            (Some((part, selection)), Some(mut reader)) => {
                let is_small = part.bytes() <= READ_HERE;
                reader.go_on(part, selection);
                Head::Reading(read_ahead(reader, ITEMS, is_small))
            }
            (None, reader) if !self.has_ended => {
                self.reader = reader;
                Head::Waiting
            }
            (None, Some(mut reader)) if reader.grows() => {
                reader.end();
                Head::Reading(read_ahead(reader, ITEMS, true))
            }
            _ => Head::Ended,
        }
    }
}

impl Cursor {
    fn growing(stream: Arc<DataStream>, selection: Selection, rank: usize) -> Self {
        let reader = StreamReader::new(Arc::clone(&stream), selection);
        let reader = reader.gathering(GATHERED_AT_ONCE).growing();
        let (parts, certain, has_ended) = (VecDeque::new(), i64::MIN, false);
        let growth = Growth { reader: None, parts, certain, has_ended };
        let is_small = stream.bytes() <= READ_HERE;
        let head = Head::Reading(read_ahead(reader, ITEMS, is_small));
        let (ready, ahead, merged_as) = (VecDeque::new(), None, None);
        let (items, growth) = (ITEMS, Some(growth));
        let loose = 0;
        Self { stream, rank, head, items, is_small, ready, ahead, merged_as, growth, loose }
    }

    /// Takes items that were read; reads on, or keeps the reader of a part that has ended.
    pub(super) fn take_ahead(&mut self, ahead: Ahead) {
        self.ready = ahead.items;
        match (ahead.reader, &mut self.growth) {
            (Some(reader), _) if ahead.has_more => {
                self.ahead = Some(read_ahead(reader, self.items, self.is_small));
            }
            (reader, Some(growth)) => growth.reader = reader,
            _ => {}
        }
    }

    /// The head behind all items that were read ahead.
    pub(super) fn next_head(&mut self) -> Head {
        self.growth.as_mut().map_or(Head::Ended, Growth::next_head)
    }

    /// The time before which nothing comes any more.
    pub(super) fn certain(&self) -> i64 {
        self.growth.as_ref().map_or(i64::MIN, |growth| growth.certain)
    }

    fn grow(&mut self, change: impl FnOnce(&mut Growth)) {
        let Some(growth) = &mut self.growth else { return };
        change(growth);
        if matches!(self.head, Head::Waiting) {
            self.head = growth.next_head();
        }
    }
}

impl Muxer {
    /// Adds a data stream that grows behind the others. `ranks` holds for each data stream its
    /// place in the order that decides ties, the new one at the end.
    pub fn add(&mut self, stream: Arc<DataStream>, selection: Selection, ranks: &[usize]) {
        Arc::make_mut(&mut self.streams).push(Arc::clone(&stream));
        self.cursors.push(Cursor::growing(stream, selection, ranks.len().saturating_sub(1)));
        self.by_rank = vec![0; self.cursors.len()];
        for ((index, cursor), &rank) in self.cursors.iter_mut().enumerate().zip(ranks) {
            cursor.rank = rank;
            if let Some(place) = self.by_rank.get_mut(rank) {
                *place = index;
            }
        }
        self.has_grown = true;
    }

    /// Adds a part of a data stream that grows.
    pub fn append(&mut self, index: usize, part: Arc<DataStream>, selection: Selection) {
        if let Some(known) = Arc::make_mut(&mut self.streams).get_mut(index) {
            if !Arc::ptr_eq(&known.trace, &part.trace) {
                // Whoever looks at classes finds those that are new, too.
                *known = Arc::new(known.following(Arc::clone(&part.trace), Vec::new()));
            }
        }
        self.grow(index, |growth| growth.parts.push_back((part, selection)));
    }

    /// Tells that nothing before a time is still to come of a data stream that grows,
    /// nanoseconds from the origin.
    pub fn set_certain(&mut self, index: usize, time: i64) {
        self.grow(index, |growth| growth.certain = growth.certain.max(time));
    }

    /// Tells that a data stream that grows does not do so any more.
    pub fn end(&mut self, index: usize) {
        self.grow(index, |growth| growth.has_ended = true);
    }

    /// The data streams of which nothing is left, if one of them has to grow before the next
    /// merge can go on behind the last.
    #[must_use]
    pub fn waiting(&self) -> Vec<usize> {
        let all = self.cursors.iter().enumerate();
        let waiting = all.filter(|(_, cursor)| matches!(cursor.head, Head::Waiting));
        waiting.filter(|_| self.is_waiting).map(|(index, _)| index).collect()
    }

    fn grow(&mut self, index: usize, change: impl FnOnce(&mut Growth)) {
        if let Some(cursor) = self.cursors.get_mut(index) {
            cursor.grow(change);
            self.has_grown = true;
        }
    }

    /// Sorts the heads anew, if some have changed.
    pub(super) fn sort_again(&mut self) {
        if !std::mem::take(&mut self.has_grown) {
            return;
        }
        self.heads.clear();
        // The first in the list is read first.
        self.unknown = (0..self.cursors.len()).rev().collect();
    }
}
