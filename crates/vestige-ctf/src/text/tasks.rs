//! Parts of a merge that are rendered on different cores, and the pieces of text they make.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use vestige_workers::{meanwhile, on_all_cores, thread_count};

use super::header::Last;
use super::time::TimeFormatter;
use crate::error::CtfError;
use crate::muxer::{Merge, Run};

/// About how many records one task renders.
const TASK_RECORDS: usize = 2048;
/// How many tasks a thread has at a time.
const TASKS_OF_THREAD: usize = 8;
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

    /// Gives the text of a piece to `write` and keeps its memory; whether to go on.
    ///
    /// # Errors
    ///
    /// The one at the end of the piece.
    pub fn write(
        &self,
        (piece, error): Piece,
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<bool, (usize, CtfError)> {
        let goes_on = write(&piece);
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MOST_PIECES {
            free.push(piece);
        }
        error.map_or(Ok(goes_on), Err)
    }
}

/// Renders tasks on all cores and hands on what they make, in order, until `each` wants no
/// more. A wave is rendered while the one before it is handed on, so that the text of a whole
/// merge is never in memory.
///
/// # Errors
///
/// The first of `each`.
pub fn in_waves<R: Send, E>(
    tasks: Vec<Task>,
    clock: &TimeFormatter,
    render: impl Fn(&mut TimeFormatter, Task) -> R + Sync + Send,
    mut each: impl FnMut(R) -> Result<bool, E>,
) -> Result<(), E> {
    let wave = thread_count() * TASKS_OF_THREAD;
    let mut tasks = tasks.into_iter();
    let mut next = || -> Vec<Task> { tasks.by_ref().take(wave).collect() };
    let render_all = |wave: Vec<Task>| -> Vec<R> {
        wave.into_par_iter().map_with(clock.clone(), &render).collect()
    };
    let first = next();
    let mut results = on_all_cores(|| render_all(first));
    while !results.is_empty() {
        let wave = next();
        let (coming, handed_on) = meanwhile(
            || render_all(wave),
            || results.drain(..).try_fold(true, |goes_on, result| Ok(goes_on && each(result)?)),
        );
        if !handed_on? {
            break;
        }
        results = coming.unwrap_or_default();
    }
    Ok(())
}
