//! Merging data streams by time.
//!
//! The merged order is kept as *runs*: some records in a row of one batch. Streams that do
//! not interleave cost one run a batch. Data streams are read ahead on the thread pool, one
//! item each, while the caller works on the last merge.
//!
//! Ties go to the data stream that comes first in the list; whoever makes the list decides
//! the order (Babeltrace 2 orders by trace UUID, trace name, stream class, stream ID).

mod growth;
mod loose;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::{Duration, Instant};

use growth::Growth;

use crate::stream::{
    loss_since, Batch, Boundary, BoundaryKind, Damage, DataStream, Item, Lost, Part, Record,
    Selection, StreamReader,
};

/// How many items are read ahead of the merge, by all data streams together, as long as
/// each reads at least one. One at a time costs a thread switch for each; many cost memory.
const ITEMS_AHEAD: usize = 16;
/// Most items of one data stream that are read at once.
const MOST_ITEMS_AHEAD: usize = 3;

/// Most bytes of small packets that are put together ahead of the merge, by all data streams,
/// as long as each puts together a few.
const GATHERED_AHEAD: usize = 4 * 1024 * 1024;
/// Most bytes that one data stream puts together: a batch lives as long as its merge, and
/// larger ones save no more time.
const GATHERED_AT_ONCE: usize = 64 * 1024;
/// So many notices count as an item: they are small.
const NOTICES_OF_ITEM: usize = 64;

/// Data streams of so many bytes, all together, are read by the caller: to start the threads of a
/// pool takes longer.
const READ_HERE: u64 = 64 * 1024;

/// After so long a merge is handed out however little is in it, so that whoever asked for
/// it can show where the reading is, or end it.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// About how many records make a merge.
const MERGE_RECORDS: usize = 32_768;
/// About how many bytes of records make a merge; long records make shorter merges.
const MERGE_BYTES: u64 = 2 * 1024 * 1024;
/// About how much text a merge may become on account of names alone, bytes.
const MERGE_TEXT: u64 = 128 * 1024 * 1024;

/// Some records in a row of one batch and one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index of the batch in the merge.
    pub batch: u32,
    /// Index of the part of the batch: the records of a run are of one packet.
    pub part: u32,
    /// Index of the first record.
    pub start: u32,
    /// Index behind the last record.
    pub end: u32,
}

impl Run {
    /// How many records it has.
    #[inline]
    #[must_use]
    pub fn length(&self) -> usize {
        (self.end - self.start) as usize
    }
}

/// Something beside event records that happened in a data stream.
#[derive(Debug, Clone)]
pub enum Notice {
    /// The tracer lost something.
    Lost(Lost),
    /// Bytes of the data stream cannot be used; with the index of the file.
    Damage(usize, Damage),
    /// The data stream or one of its packets begins or ends; only when asked for.
    Boundary(Boundary),
    /// Nothing more comes of the data stream up to this time, cycles.
    Inactivity(u64),
}

/// A part of the merged order.
#[derive(Clone, Default)]
pub struct Merge {
    /// All data streams that are merged, in the order that decides ties.
    pub streams: Arc<Vec<Arc<DataStream>>>,
    /// The batches that the runs refer to.
    pub batches: Vec<Arc<Batch>>,
    /// The order.
    pub runs: Vec<Run>,
    /// Notices with the index of their data stream and of the run before which they belong.
    pub notices: Vec<(usize, usize, Notice)>,
    /// The number of records.
    pub records: usize,
    /// Whether records of different data streams may not be in order; see [`Muxer::loosen`].
    pub is_loose: bool,
    /// In what [`Merge::shown`] returns, how many records are not there for their class alone.
    pub left_out: usize,
    /// The number of their bytes.
    bytes: u64,
    /// Upper bound of the text that is not a matter of their bytes.
    text: u64,
}

impl Merge {
    /// A merge of what somebody has put in order.
    pub(crate) fn of(
        streams: Arc<Vec<Arc<DataStream>>>,
        batches: Vec<Arc<Batch>>,
        runs: Vec<Run>,
        notices: Vec<(usize, usize, Notice)>,
    ) -> Self {
        let records = runs.iter().map(|run| (run.end - run.start) as usize).sum();
        Self { streams, batches, runs, notices, records, ..Self::default() }
    }

    /// The batch and the records of a run.
    #[must_use]
    pub fn run(&self, run: &Run) -> Option<(&Batch, &[Record])> {
        let batch = self.batches.get(run.batch as usize)?;
        let records = batch.records.get(run.start as usize..run.end as usize)?;
        Some((batch, records))
    }

    /// The part of its batch that a run is of.
    #[must_use]
    pub fn part(&self, run: &Run) -> Option<&Part> {
        Some(self.batches.get(run.batch as usize)?.part(run.part))
    }

    /// The runs in parts of about as many records, for tasks on several cores.
    pub(crate) fn tasks(&self, records: usize) -> Vec<Vec<Run>> {
        let mut tasks = Vec::new();
        let mut task = Vec::new();
        let mut room = records;
        for run in &self.runs {
            let mut start = run.start;
            while start < run.end {
                let count = ((run.end - start) as usize).min(room);
                let end = start + count as u32;
                task.push(Run { start, end, ..*run });
                start = end;
                room -= count;
                if room == 0 {
                    tasks.push(std::mem::take(&mut task));
                    room = records;
                }
            }
        }
        tasks.push(task);
        tasks
    }

    /// The merge without the records that only a filter needed, and without those that a
    /// filter hides (with `false` in `visible`); for each record that is left its index
    /// before. `None` when all are wanted.
    #[must_use]
    pub fn shown(&self, visible: Option<&[bool]>) -> Option<(Self, Vec<usize>)> {
        let everything = self.batches.iter().all(|batch| batch.selection.is_everything());
        if visible.is_none() && (everything || self.shows_all()) {
            return None;
        }
        let (streams, batches) = (Arc::clone(&self.streams), self.batches.clone());
        let is_loose = self.is_loose;
        let mut merge = Self { streams, batches, is_loose, ..Self::default() };
        let (mut kept, mut index) = (Vec::new(), 0);
        // Where each old run begins among the new ones, for the notices between runs.
        let mut places = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            places.push(merge.runs.len());
            let Some((batch, records)) = self.run(run) else { continue };
            // Where a run began, a notice may stand or another packet begin.
            let first = merge.runs.len();
            for (row, record) in (run.start..).zip(records) {
                let visible = visible.is_none_or(|all| all.get(index).copied().unwrap_or(true));
                if visible && batch.shows(record) {
                    merge.push(first, Run { start: row, end: row + 1, ..*run });
                    kept.push(index);
                } else if batch.selection.leaves_out(&batch.stream, record) {
                    merge.left_out += 1;
                }
                index += 1;
            }
        }
        merge.records = kept.len();
        let end = merge.runs.len();
        let moved = |(rank, run, notice): &(usize, usize, Notice)| {
            (*rank, places.get(*run).copied().unwrap_or(end), notice.clone())
        };
        merge.notices = self.notices.iter().map(moved).collect();
        Some((merge, kept))
    }

    /// The records and the notices of the data streams with `true` in `wanted`, by their
    /// indexes; for each of the records its index before.
    #[must_use]
    pub fn of_streams(&self, wanted: &[bool]) -> (Self, Vec<usize>) {
        let is_wanted = |rank: usize| wanted.get(rank).copied().unwrap_or(false);
        let ranks: HashMap<u64, usize> =
            self.streams.iter().enumerate().map(|(rank, one)| (one.origin(), rank)).collect();
        let of_batch = |batch: &Arc<Batch>| {
            ranks.get(&batch.stream.origin()).is_some_and(|&rank| is_wanted(rank))
        };
        let batches: Vec<bool> = self.batches.iter().map(of_batch).collect();
        let (streams, all) = (Arc::clone(&self.streams), self.batches.clone());
        let is_loose = self.is_loose;
        let mut merge = Self { streams, batches: all, is_loose, ..Self::default() };
        let (mut kept, mut index) = (Vec::new(), 0);
        let mut places = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            places.push(merge.runs.len());
            let count = (run.end - run.start) as usize;
            if batches.get(run.batch as usize).copied().unwrap_or(false) {
                merge.runs.push(*run);
                kept.extend(index..index + count);
            }
            index += count;
        }
        merge.records = kept.len();
        let end = merge.runs.len();
        let notices = self.notices.iter().filter(|(rank, _, _)| is_wanted(*rank));
        let moved = |(rank, run, notice): &(usize, usize, Notice)| {
            (*rank, places.get(*run).copied().unwrap_or(end), notice.clone())
        };
        merge.notices = notices.map(moved).collect();
        (merge, kept)
    }

    /// The records of some batches, without notices.
    pub(crate) fn of_batches(&self, wanted: &[bool]) -> Self {
        let is_wanted = |run: &&Run| wanted.get(run.batch as usize).copied().unwrap_or(false);
        let runs = self.runs.iter().filter(is_wanted).copied().collect();
        let (streams, batches) = (Arc::clone(&self.streams), self.batches.clone());
        Self { is_loose: self.is_loose, ..Self::of(streams, batches, runs, Vec::new()) }
    }

    /// What stands in front of a notice, by its index.
    #[must_use]
    pub fn until(&self, notice: usize) -> Self {
        let Some(&(_, end, _)) = self.notices.get(notice) else { return Self::default() };
        let runs = self.runs.iter().take(end).copied().collect();
        let notices = self.notices.iter().take(notice).cloned().collect();
        let until = Self::of(Arc::clone(&self.streams), self.batches.clone(), runs, notices);
        Self { is_loose: self.is_loose, ..until }
    }

    /// The same without the losses before some times, nanoseconds, one for each data stream;
    /// `None` if there are no such losses.
    #[must_use]
    pub fn without_early_losses(&self, begins: &[Option<i64>]) -> Option<Self> {
        let since = |rank: usize, lost: &Lost| {
            let begin = begins.get(rank).copied().flatten();
            match (begin, self.streams.get(rank)) {
                (Some(begin), Some(stream)) => loss_since(lost.clone(), stream, begin),
                _ => Some(lost.clone()),
            }
        };
        let notices = self.notices.iter().filter_map(|(rank, run, notice)| match notice {
            Notice::Lost(lost) => Some((*rank, *run, Notice::Lost(since(*rank, lost)?))),
            other => Some((*rank, *run, other.clone())),
        });
        let notices: Vec<_> = notices.collect();
        let lost = |notices: &[(usize, usize, Notice)]| {
            let lost = notices.iter().filter_map(|(_, _, notice)| match notice {
                Notice::Lost(lost) => Some(lost.clone()),
                _ => None,
            });
            lost.collect::<Vec<_>>()
        };
        (lost(&notices) != lost(&self.notices)).then(|| Self { notices, ..self.clone() })
    }

    /// Whether all records are wanted for themselves.
    fn shows_all(&self) -> bool {
        self.runs.iter().all(|run| {
            let Some((batch, records)) = self.run(run) else { return true };
            batch.selection.is_everything() || records.iter().all(|record| batch.shows(record))
        })
    }

    /// Whether it is large enough to be handed out.
    fn is_full(&self) -> bool {
        // What is loose comes many at a time.
        let most = if self.is_loose { MERGE_RECORDS / 2 } else { MERGE_RECORDS };
        self.records >= most
            || self.bytes >= MERGE_BYTES
            || self.text >= MERGE_TEXT
            || self.notices.len() >= MERGE_RECORDS
    }

    /// How many more records of a part of a batch it takes, at most.
    fn room(&self, batch: &Batch, part: u32) -> usize {
        let records = MERGE_RECORDS.saturating_sub(self.records);
        let repeated = batch.repeated_text(part);
        if repeated <= MERGE_TEXT / MERGE_RECORDS as u64 {
            // Even a whole merge of such records stays below the limit.
            return records;
        }
        let text = MERGE_TEXT.saturating_sub(self.text) / repeated;
        usize::try_from(text).unwrap_or(usize::MAX).min(records)
    }

    /// Adds a batch; returns its index.
    fn add_batch(&mut self, batch: &Arc<Batch>) -> u32 {
        self.batches.push(Arc::clone(batch));
        (self.batches.len() - 1) as u32
    }

    /// Adds a run of a batch that was added.
    // Data streams that interleave have a run for each record.
    #[inline(always)]
    fn add_run(&mut self, batch: &Batch, run: Run) {
        let (start, end) = (run.start as usize, run.end as usize);
        self.runs.push(run);
        self.records += end - start;
        self.bytes += batch.size_of(start, end);
        if start == batch.start_of_part(run.part) {
            self.bytes += batch.part(run.part).packet.memory_size();
        }
        self.text += (end - start) as u64 * batch.repeated_text(run.part).min(MERGE_TEXT);
    }

    /// Adds a record behind the last, to its run when that is not before `first` and the
    /// record is the next of it.
    fn push(&mut self, first: usize, record: Run) {
        match self.runs.get_mut(first..).and_then(<[Run]>::last_mut) {
            Some(run) if run.end == record.start => run.end = record.end,
            _ => self.runs.push(record),
        }
    }
}

/// Items read ahead, and the reader.
#[derive(Default)]
struct Ahead {
    items: VecDeque<Item>,
    reader: Option<StreamReader>,
    /// Whether it may read more than these.
    has_more: bool,
}

/// What is at the head of a data stream.
enum Head {
    /// The next item is being read.
    Reading(Receiver<Ahead>),
    /// Records, of which those before the index are merged, and how many of the boundaries
    /// between them are told.
    Batch(Arc<Batch>, usize, usize),
    /// A notice.
    Notice(Notice),
    /// Nothing now: the data stream grows.
    Waiting,
    /// Nothing more.
    Ended,
}

struct Cursor {
    stream: Arc<DataStream>,
    /// Its place in the order that decides ties.
    rank: usize,
    head: Head,
    /// How many items are read at once.
    items: usize,
    /// Whether the caller reads them.
    is_small: bool,
    /// Items after the head that are read.
    ready: VecDeque<Item>,
    /// Items after these, which are being read.
    ahead: Option<Receiver<Ahead>>,
    /// Index of the head's batch in the merge that is being made.
    merged_as: Option<u32>,
    /// What is to come, if it grows.
    growth: Option<Growth>,
    /// The classes whose records may come before or behind those of other data streams.
    loose: u64,
}

/// Time, and what decides between those of one time: where a range of time cuts data streams,
/// they begin before anything else and end after it; of others, the rank.
type Key = (i64, usize);

/// Behind so many ranks come those of another phase.
const PHASE: usize = usize::MAX / 4;
/// The phase of what begins where a range of time cuts a data stream.
const BEGINNINGS: usize = 0;
/// The phase of all that is recorded.
const RECORDED: usize = PHASE;
/// The phase of what ends where a range of time cuts a data stream.
const ENDS: usize = 2 * PHASE;

/// Merges data streams by time.
pub struct Muxer {
    streams: Arc<Vec<Arc<DataStream>>>,
    cursors: Vec<Cursor>,
    /// The heads of the data streams, the earliest on top.
    heads: BinaryHeap<Reverse<Key>>,
    /// The data streams whose heads are not known yet; without them nothing can go on.
    unknown: Vec<usize>,
    /// The index of the data stream of each rank.
    by_rank: Vec<usize>,
    /// Whether data streams have grown since the heads were sorted.
    has_grown: bool,
    is_waiting: bool,
    /// Whether the order is loose anywhere.
    is_loose: bool,
}

impl Muxer {
    /// A muxer over data streams in the order that decides ties, each with what is wanted
    /// of it.
    #[must_use]
    pub fn new(streams: Vec<(Arc<DataStream>, Selection)>) -> Self {
        let items = (ITEMS_AHEAD / streams.len().max(1)).clamp(1, MOST_ITEMS_AHEAD);
        let gathered = (GATHERED_AHEAD / streams.len().max(1)).min(GATHERED_AT_ONCE);
        let all: Vec<_> = streams.iter().map(|(stream, _)| Arc::clone(stream)).collect();
        let bytes = all.iter().map(|stream| stream.bytes()).fold(0, u64::saturating_add);
        let is_small = bytes <= READ_HERE;
        let cursors = streams
            .into_iter()
            .enumerate()
            .map(|(rank, (stream, selection))| {
                let reader = StreamReader::new(Arc::clone(&stream), selection);
                let reader = reader.gathering(gathered);
                let head = Head::Reading(read_ahead(reader, items, is_small));
                let (ready, ahead, merged_as, growth) = (VecDeque::new(), None, None, None);
                Cursor {
                    stream,
                    rank,
                    head,
                    items,
                    is_small,
                    ready,
                    ahead,
                    merged_as,
                    growth,
                    loose: 0,
                }
            })
            .collect();
        let unknown = (0..all.len()).rev().collect();
        let (heads, by_rank) = (BinaryHeap::new(), (0..all.len()).collect());
        Self {
            streams: Arc::new(all),
            cursors,
            heads,
            unknown,
            by_rank,
            has_grown: false,
            is_waiting: false,
            is_loose: false,
        }
    }

    /// The next part of the merged order, or `None` at the end. It may be empty, when there
    /// was nothing for some time or when a data stream has to grow first.
    pub fn next_merge(&mut self) -> Option<Merge> {
        self.sort_again();
        self.is_waiting = false;
        let mut merge = Merge { streams: Arc::clone(&self.streams), ..Merge::default() };
        for cursor in &mut self.cursors {
            cursor.merged_as = None;
        }
        let until = Instant::now() + LONGEST_WAIT;
        let mut is_loose = self.is_loose;
        loop {
            if !self.know_heads(until) {
                return Some(merge);
            }
            if merge.is_full() {
                break;
            }
            if is_loose {
                let before = merge.records;
                is_loose = self.take_loosely(&mut merge);
                if merge.records > before {
                    continue;
                }
            }
            let Some(Reverse(key)) = self.heads.pop() else { break };
            let limit = self.heads.peek().map(|Reverse(key)| *key);
            let Some(&index) = self.by_rank.get(key.1 % PHASE) else { break };
            if let Some(cursor) = self.cursors.get_mut(index) {
                if matches!(cursor.head, Head::Waiting) {
                    self.heads.push(Reverse(key));
                    self.is_waiting = true;
                    return Some(merge);
                }
                cursor.take(index, limit, &mut merge);
            }
            self.unknown.push(index);
        }
        (merge.records > 0 || !merge.notices.is_empty()).then_some(merge)
    }

    /// Sorts in the heads that are not known; returns whether all were read in time.
    fn know_heads(&mut self, until: Instant) -> bool {
        while let Some(&index) = self.unknown.last() {
            let Some(cursor) = self.cursors.get_mut(index) else { return true };
            if !cursor.receive(until) {
                return false;
            }
            self.unknown.pop();
            if let Some((time, phase)) = cursor.time() {
                self.heads.push(Reverse((time, phase + cursor.rank)));
            }
        }
        true
    }
}

/// The index behind the last record that comes before `limit`; at least one record is taken.
///
/// Records of a batch are in time order, so the end is searched in growing steps: streams
/// that interleave record by record and streams that do not both cost little.
#[inline(always)]
fn run_end(batch: &Batch, start: usize, rank: usize, limit: Option<Key>, room: usize) -> usize {
    let records = batch.records.get(start..).unwrap_or_default();
    let most = records.len().min(room.max(1));
    let Some(limit) = limit else { return start + most };
    let before = |record: &Record| (batch.nanoseconds(record), RECORDED + rank) < limit;
    let (mut known, mut step) = (1, 1);
    while known + step <= most && records.get(known + step - 1).is_some_and(before) {
        known += step;
        step *= 2;
    }
    let rest = records.get(known..most.min(known + step)).unwrap_or_default();
    start + known + rest.partition_point(before)
}

impl Cursor {
    /// The time of the head, which is known, and its phase; `None` at the end.
    fn time(&self) -> Option<Key> {
        let time = match &self.head {
            Head::Batch(batch, index, told) => match batch.boundaries().get(*told) {
                Some((at, boundary)) if at == index => return Some(key_of(&self.stream, boundary)),
                _ => batch.records.get(*index).map(|record| batch.nanoseconds(record))?,
            },
            Head::Notice(Notice::Lost(lost)) => nanoseconds(&self.stream, lost.beginning),
            Head::Notice(Notice::Boundary(boundary)) => {
                return Some(key_of(&self.stream, boundary))
            }
            Head::Notice(Notice::Inactivity(cycles)) => nanoseconds(&self.stream, Some(*cycles)),
            Head::Notice(Notice::Damage(..)) => i64::MIN,
            Head::Waiting => self.certain(),
            Head::Reading(_) | Head::Ended => return None,
        };
        Some((time, RECORDED))
    }

    /// Waits for the items that are being read and starts to read those after them. Returns
    /// whether the head is known.
    fn receive(&mut self, until: Instant) -> bool {
        while let Head::Reading(receiver) = &self.head {
            let wait = until.saturating_duration_since(Instant::now());
            let ahead = match receiver.recv_timeout(wait) {
                Ok(ahead) => ahead,
                Err(RecvTimeoutError::Timeout) => return false,
                Err(RecvTimeoutError::Disconnected) => Ahead::default(),
            };
            self.take_ahead(ahead);
            self.advance();
        }
        true
    }

    /// Moves the head to the merge, as far as it stays before `limit`.
    fn take(&mut self, place: usize, limit: Option<Key>, merge: &mut Merge) {
        let rank = self.rank;
        match &mut self.head {
            Head::Batch(batch, ..) if !batch.boundaries().is_empty() => {
                if !self.take_with_boundaries(place, limit, merge) {
                    return;
                }
            }
            Head::Batch(batch, start, _) => {
                let index = *self.merged_as.get_or_insert_with(|| merge.add_batch(batch));
                let mut part = batch.part_of_row(*start);
                loop {
                    let room = merge.room(batch, part);
                    let most = room.max(1).min(batch.end_of_part(part) - *start);
                    let end = run_end(batch, *start, rank, limit, most);
                    let is_cut = end - *start < most;
                    let run = Run { batch: index, part, start: *start as u32, end: end as u32 };
                    merge.add_run(batch, run);
                    *start = end;
                    if end == batch.records.len() {
                        break;
                    }
                    if is_cut || end < batch.end_of_part(part) || merge.is_full() {
                        return;
                    }
                    // The next packet goes on, unless another data stream comes first.
                    part += 1;
                    let next = batch.records.get(end).map(|record| batch.nanoseconds(record));
                    if limit.is_some_and(|limit| {
                        next.is_some_and(|time| (time, RECORDED + rank) >= limit)
                    }) {
                        return;
                    }
                }
            }
            Head::Notice(notice) => {
                merge.notices.push((place, merge.runs.len(), notice.clone()));
            }
            Head::Reading(_) | Head::Waiting | Head::Ended => {}
        }
        self.advance();
    }

    /// The same of a batch in which packets begin or end; returns whether all of it is taken.
    fn take_with_boundaries(
        &mut self,
        place: usize,
        limit: Option<Key>,
        merge: &mut Merge,
    ) -> bool {
        let rank = self.rank;
        let stream = Arc::clone(&self.stream);
        let Head::Batch(batch, start, told) = &mut self.head else { return true };
        let index = *self.merged_as.get_or_insert_with(|| merge.add_batch(batch));
        let mut is_first = true;
        loop {
            let next = batch.boundaries().get(*told);
            let here = next.filter(|(at, _)| at == start).map(|(_, boundary)| boundary);
            let (time, phase) = match here {
                Some(boundary) => key_of(&stream, boundary),
                None => match batch.records.get(*start) {
                    Some(record) => (batch.nanoseconds(record), RECORDED),
                    None => return true,
                },
            };
            let is_due = limit.is_none_or(|limit| (time, phase + rank) < limit);
            if !std::mem::take(&mut is_first) && (!is_due || merge.is_full()) {
                return false;
            }
            if let Some(boundary) = here {
                let notice = Notice::Boundary(boundary.clone());
                merge.notices.push((place, merge.runs.len(), notice));
                *told += 1;
                continue;
            }
            let part = batch.part_of_row(*start);
            let end = next.map_or(batch.records.len(), |(at, _)| *at);
            let most = end.min(batch.end_of_part(part)) - *start;
            let most = merge.room(batch, part).max(1).min(most);
            let end = run_end(batch, *start, rank, limit, most);
            merge.add_run(batch, Run { batch: index, part, start: *start as u32, end: end as u32 });
            *start = end;
        }
    }

    fn advance(&mut self) {
        self.merged_as = None;
        self.head = match self.ready.pop_front() {
            Some(Item::Batch(batch)) => Head::Batch(Arc::new(batch), 0, 0),
            Some(Item::Lost(lost)) => Head::Notice(Notice::Lost(lost)),
            Some(Item::Damage(file, damage)) => Head::Notice(Notice::Damage(file, damage)),
            Some(Item::Boundary(boundary)) => Head::Notice(Notice::Boundary(boundary)),
            Some(Item::Nothing) => return self.advance(),
            None => match self.ahead.take() {
                Some(receiver) => Head::Reading(receiver),
                None => self.next_head(),
            },
        };
    }
}

/// Nanoseconds from the origin; what has no time comes at once.
fn nanoseconds(stream: &DataStream, cycles: Option<u64>) -> i64 {
    cycles.map_or(i64::MIN, |cycles| stream.nanoseconds(cycles))
}

/// The time of a boundary and its phase.
fn key_of(stream: &DataStream, boundary: &Boundary) -> Key {
    let phase = match boundary.kind {
        _ if !boundary.is_cut => RECORDED,
        BoundaryKind::StreamBeginning | BoundaryKind::PacketBeginning(_) => BEGINNINGS,
        BoundaryKind::StreamEnd | BoundaryKind::PacketEnd(_) => ENDS,
    };
    (nanoseconds(stream, boundary.cycles), phase)
}

/// Reads the next items of a data stream on the thread pool, or at once.
fn read_ahead(mut reader: StreamReader, count: usize, at_once: bool) -> Receiver<Ahead> {
    let (sender, receiver) = channel();
    let read = move || {
        let mut items = VecDeque::with_capacity(count);
        let mut read = 0;
        while read < count * NOTICES_OF_ITEM {
            match reader.next_item() {
                Some(item) => {
                    let is_small = !matches!(item, Item::Batch(_) | Item::Nothing);
                    read += if is_small { 1 } else { NOTICES_OF_ITEM };
                    items.push_back(item);
                }
                None => {
                    // A muxer that was dropped does not want it any more.
                    let ahead = Ahead { items, reader: Some(reader), has_more: false };
                    let _ = sender.send(ahead);
                    return;
                }
            }
        }
        let _ = sender.send(Ahead { items, reader: Some(reader), has_more: true });
    };
    if at_once {
        read();
    } else {
        vestige_workers::spawn(read);
    }
    receiver
}
