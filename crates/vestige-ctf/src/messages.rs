//! The sequence of a merge: event records and what stands between them, one by one.
//!
//! Whoever needs to know where packets begin and end asks the muxer for it
//! ([`Selection::boundaries`](crate::stream::Selection)) and goes through each merge with
//! [`pieces`] or [`walk`]. Nobody else knows how runs and notices fit together.

use std::collections::HashMap;
use std::sync::Arc;

use crate::muxer::{Merge, Notice, Run};
use crate::stream::{Batch, Record};

/// Some event records in a row, or what stands between event records.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// Event records of one packet.
    Run {
        /// Index of the data stream.
        rank: usize,
        /// Where they are.
        run: Run,
        /// Index of the first one among the event records of the merge.
        first: usize,
    },
    /// A notice, with the index of its data stream.
    Notice(usize, &'a Notice),
}

/// An event record, or what stands between event records.
#[derive(Clone, Copy)]
pub enum Message<'a> {
    /// An event record.
    Event {
        /// Index of the data stream.
        rank: usize,
        /// The batch.
        batch: &'a Arc<Batch>,
        /// Index of the part of the batch: the packet.
        part: u32,
        /// The record.
        record: &'a Record,
        /// Index among the event records of the merge.
        index: usize,
    },
    /// A notice, with the index of its data stream.
    Notice(usize, &'a Notice),
}

/// The index of the data stream of each batch of a merge.
#[must_use]
pub fn ranks(merge: &Merge) -> Vec<usize> {
    let ranks: HashMap<_, _> =
        merge.streams.iter().enumerate().map(|(rank, stream)| (stream.origin(), rank)).collect();
    let rank = |batch: &Arc<Batch>| ranks.get(&batch.stream.origin()).copied().unwrap_or(0);
    merge.batches.iter().map(rank).collect()
}

/// The runs and the notices of a merge, in order.
pub fn pieces(merge: &Merge) -> impl Iterator<Item = Piece<'_>> {
    let ranks = ranks(merge);
    let mut first = 0;
    let mut notices = merge.notices.iter().peekable();
    let mut runs = merge.runs.iter().enumerate().peekable();
    std::iter::from_fn(move || {
        let before = runs.peek().map_or(usize::MAX, |&(index, _)| index);
        if let Some((rank, _, notice)) = notices.next_if(|(_, run, _)| *run <= before) {
            return Some(Piece::Notice(*rank, notice));
        }
        let (_, run) = runs.next()?;
        let rank = ranks.get(run.batch as usize).copied().unwrap_or(0);
        let piece = Piece::Run { rank, run: *run, first };
        first += (run.end - run.start) as usize;
        Some(piece)
    })
}

/// The event records and the notices of a merge, in order.
pub fn walk(merge: &Merge) -> impl Iterator<Item = Message<'_>> {
    pieces(merge).flat_map(move |piece| {
        let (notice, run) = match piece {
            Piece::Notice(rank, notice) => (Some(Message::Notice(rank, notice)), None),
            Piece::Run { rank, run, first } => (None, Some((rank, run, first))),
        };
        let events = run.into_iter().flat_map(move |(rank, run, first)| {
            let batch = merge.batches.get(run.batch as usize);
            batch.into_iter().flat_map(move |batch| {
                let records = batch.records.get(run.start as usize..run.end as usize);
                let records = records.unwrap_or_default().iter().zip(first..);
                records.map(move |(record, index)| Message::Event {
                    rank,
                    batch,
                    part: run.part,
                    record,
                    index,
                })
            })
        });
        notice.into_iter().chain(events)
    })
}
