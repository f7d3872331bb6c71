//! Parts of a merge that are rendered on different cores, and the pieces of text they make.

use std::sync::{Mutex, PoisonError};

use super::header::Last;
use crate::error::CtfError;
use crate::muxer::{Merge, Run};

/// About how many records one task renders.
const TASK_RECORDS: usize = 2048;
/// Most pieces of text that are kept for use again.
const MOST_PIECES: usize = 64;

/// Text, and the record after it that cannot be decoded, with the index of its batch.
pub type Piece = (Vec<u8>, Option<(usize, CtfError)>);

/// One task: some runs of a merge, with the index of their first record in the merge.
pub struct Task {
    /// The runs.
    pub runs: Vec<Run>,
    /// Index of the first record.
    pub first: usize,
    /// The time of the record before it.
    pub last: Last,
}

/// The time of the last record that was given to a task.
#[derive(Default)]
pub struct Timeline {
    last: Last,
}

impl Timeline {
    /// Splits runs into tasks and notes for each the time of the record before it.
    pub fn tasks(&mut self, merge: &Merge, runs: &[Run], first: usize) -> Vec<Task> {
        let mut tasks = Vec::new();
        let mut index = first;
        let mut task = Task { runs: Vec::new(), first, last: self.last };
        let mut filled = 0;
        for run in runs {
            let mut start = run.start;
            while start < run.end {
                let count = ((run.end - start) as usize).min(TASK_RECORDS - filled);
                let piece = Run { start, end: start + count as u32, ..*run };
                self.note_last(merge, &piece);
                task.runs.push(piece);
                start = piece.end;
                filled += count;
                index += count;
                if filled == TASK_RECORDS {
                    let next = Task { runs: Vec::new(), first: index, last: self.last };
                    tasks.push(std::mem::replace(&mut task, next));
                    filled = 0;
                }
            }
        }
        tasks.push(task);
        tasks
    }

    fn note_last(&mut self, merge: &Merge, run: &Run) {
        let Some((batch, records)) = merge.run(run) else { return };
        if let (true, Some(record)) = (batch.stream.has_clock(), records.last()) {
            let nanoseconds = Some(batch.nanoseconds(record));
            self.last = Last { nanoseconds, cycles: Some(record.cycles) };
        }
    }
}

/// Pieces of text that are written, for those to come.
#[derive(Default)]
pub struct Pieces {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Pieces {
    /// An empty piece.
    pub fn take(&self) -> Vec<u8> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut piece = free.pop().unwrap_or_default();
        piece.clear();
        piece
    }

    /// Takes back pieces that are written.
    pub fn give(&self, pieces: Vec<Vec<u8>>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        free.extend(pieces);
        free.truncate(MOST_PIECES);
    }
}

/// Pieces in order, up to the first record that cannot be decoded.
pub fn collect_pieces(results: Vec<Piece>) -> (Vec<Vec<u8>>, Option<(usize, CtfError)>) {
    let mut pieces = Vec::with_capacity(results.len());
    for (piece, error) in results {
        pieces.push(piece);
        if error.is_some() {
            return (pieces, error);
        }
    }
    (pieces, None)
}
