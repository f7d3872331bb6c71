//! Folding merges into call trees, with stops where process images change.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::alive::Alive;
use super::codes::{Code, CodeName, Told};
use super::keeper::Keeper;
use super::long_calls::LongCalls;
use super::machines::Machines;
use super::marks::{Mark, MarkKind, Marks};
use super::plain::{Cursor, PlainLayouts, PlainMerge};
use super::process::{Process, ThreadKey, END_OF_PROCESS};
use super::scan::{CallEvents, CallScan, Choice, Kind, Seen, NO_STREAM};
use super::steps::CallStep;
use super::thread::{Ended, Fold, Leaving, Thread};
use super::tree::Tree;
use super::turns::State;
use crate::intervals::function_ids::{flags, FunctionIds};
use crate::intervals::{Call, Calls, Durations, Sinks};
use crate::keyed_hash::KeyedMap;
use crate::model::TraceClass;
use crate::muxer::{Merge, Notice};
use crate::places::StateRecord;
use crate::stream::{DataStream, LostKind};

/// How many calls may be open at once, in all threads together.
const MOST_FRAMES: usize = 1 << 22;
/// How many threads are told apart.
const MOST_THREADS: usize = 1 << 18;
/// How many frames are searched in vain from the beginning on.
const PATIENCE: u64 = 1 << 24;

/// A function that was not seen before, at this time of its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewFunction {
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// Process ID, -1 if not told.
    pub vpid: i32,
    /// The address.
    pub address: u64,
    /// The code object there, if the trace tells of one.
    pub code: Option<Code>,
}

/// A place from which a function was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSite {
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// Process ID, -1 if not told.
    pub vpid: i32,
    /// The address to which the function returns.
    pub site: u64,
}

/// Process space, process ID and thread ID; `None` for any.
pub type ThreadChoice = (Option<u32>, Option<i32>, Option<i32>);

/// In place of the index of a thread: it is not wanted.
pub(super) const UNWANTED: usize = usize::MAX;

/// A loss in front of a record of the merge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Loss {
    pub(super) position: usize,
    /// The data stream, when it is that of one thread, and the process space.
    origin: (u32, u32),
    /// Earliest time of it.
    time: Option<i64>,
    /// Latest time of it, where records behind its place may be lost, too.
    until: Option<i64>,
}

/// What was lost of a data stream or of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost {
    /// How many times.
    pub(super) count: u64,
    /// The earliest time of the last loss.
    pub(super) time: Option<i64>,
    /// Up to when more may be lost.
    pub(super) until: Option<i64>,
}

/// Folds entries and exits into call trees.
#[derive(Clone)]
pub struct CallFold {
    pub(super) scan: CallScan,
    pub(super) fold: Fold,
    /// Which threads are wanted; all without a list.
    wanted: Option<Vec<ThreadChoice>>,
    pub(super) threads: Vec<Thread>,
    pub(super) indexes: KeyedMap<ThreadKey, usize>,
    /// What tells each thread apart.
    pub(super) keys: Vec<ThreadKey>,
    last_thread: Option<(ThreadKey, usize)>,
    seen: Vec<Seen>,
    /// The merge, if its records are read where they are.
    pub(super) plain: Option<PlainMerge>,
    /// Where it is in that.
    pub(super) cursor: Cursor,
    /// The index of the record up to which threads have their numbers.
    pub(super) met: usize,
    pub(super) layouts: PlainLayouts,
    /// What the next code events of the merge tell.
    pub(super) told: std::vec::IntoIter<Told>,
    pub(super) losses: Vec<Loss>,
    /// What was lost so far, by data stream and process space as in [`Loss`]. A thread takes note
    /// of it at its next record, so that a loss costs the same whatever threads there are.
    pub(super) lost: HashMap<(u32, u32), Lost>,
    /// Grows with each loss.
    pub(super) loss_epoch: u64,
    /// The next of the losses.
    pub(super) next_loss: usize,
    /// The index of the next record.
    pub(super) position: usize,
    /// Whether the record there was handed out as a state record already.
    pub(super) applied: bool,
    /// The number of the next entry or exit.
    pub(super) number: u64,
    /// How many of them there were in the range of time.
    pub(super) calls: u64,
    /// How many of them are left out, since there are too many threads.
    pub(super) left_out: u64,
    /// Whether data streams are shared by threads that nothing tells apart.
    pub(super) threads_unknown: bool,
    /// How many entries and exits were selected.
    selected: u64,
    /// What an index of the traces is made of, if one is wanted.
    pub(super) keeper: Option<Box<Keeper>>,
    /// Whether data streams are to have numbers in their own order.
    pub(super) numbers_streams: bool,
    /// Functions that are at an address from some time on, in the order of time.
    pub(super) changes: std::vec::IntoIter<(i64, Process, u64, u32)>,
    /// What the functions are outside of the fold.
    pub(super) ids: Option<FunctionIds>,
    /// What is said of the records of the merge, where that is wanted.
    marks: Option<Marks>,
    /// The last thread with calls that has an ID on a machine, if marks are wanted.
    on_machines: KeyedMap<(u32, i32), usize>,
    /// The data streams, as far as it is told which they are.
    pub(super) streams: Vec<Arc<DataStream>>,
    /// When threads made their last other records.
    pub(super) alive: Alive,
    /// Which threads of shared data streams go on behind the range of time.
    pub(super) going_on: HashSet<(u32, i32, i32)>,
    /// Where a point of an index is from which on it goes on, nanoseconds.
    pub(super) resumed: Option<i64>,
}

impl CallFold {
    /// A fold of events of some names. With `least`, it notes which of them belong to calls
    /// of at least so many nanoseconds.
    #[must_use]
    pub fn new(events: CallEvents, least: Option<u64>) -> Self {
        Self {
            scan: CallScan::new(events, false),
            fold: Fold {
                tree: Tree::default(),
                frames: 0,
                most_frames: MOST_FRAMES,
                patience: PATIENCE,
                kept: least.map(|least| (least, LongCalls::default())),
                range: (i64::MIN, i64::MAX),
                sinks: None,
                steps: None,
                turns: None,
            },
            wanted: None,
            threads: Vec::new(),
            indexes: KeyedMap::default(),
            keys: Vec::new(),
            last_thread: None,
            seen: Vec::new(),
            plain: None,
            cursor: Cursor::default(),
            met: 0,
            layouts: PlainLayouts::default(),
            told: Vec::new().into_iter(),
            losses: Vec::new(),
            lost: HashMap::new(),
            loss_epoch: 0,
            next_loss: 0,
            position: 0,
            applied: false,
            number: 0,
            calls: 0,
            left_out: 0,
            threads_unknown: false,
            selected: 0,
            keeper: None,
            numbers_streams: false,
            changes: Vec::new().into_iter(),
            ids: None,
            marks: None,
            on_machines: KeyedMap::default(),
            streams: Vec::new(),
            alive: Alive::default(),
            going_on: HashSet::new(),
            resumed: None,
        }
    }

    /// Keeps how long calls take, and so many of the longest of each function. To be told
    /// before the first merge, as the rest of what is wanted.
    pub fn keep_durations(&mut self, longest: usize) {
        self.sinks().durations = Some(Durations::new(longest));
    }

    /// Takes what the scheduler did to a thread of a process space: when it got into which state.
    /// To be told before the first merge.
    pub fn add_turns(
        &mut self,
        thread: (u32, i32),
        states: impl IntoIterator<Item = (i64, State)>,
    ) {
        self.fold.turns.get_or_insert_default().add_thread(thread, states);
    }

    pub(super) fn sinks(&mut self) -> &mut Sinks {
        self.fold.sinks.get_or_insert_default()
    }

    /// Folds what is in a range of time, with calls cut at its ends: first and last time,
    /// nanoseconds. Entries and exits before it tell what is open where it begins. Without
    /// an end, calls that are open in the end have no exit.
    pub fn set_range(&mut self, begin: Option<i64>, end: Option<i64>) {
        self.fold.range = (begin.unwrap_or(i64::MIN), end.unwrap_or(i64::MAX));
    }

    /// Folds the calls of some threads alone.
    pub fn choose_threads(&mut self, wanted: Vec<ThreadChoice>) {
        self.wanted = Some(wanted);
    }

    /// A fold of entries and exits of some names that makes no tree, but [`Mark`]s. With
    /// `joins`, a call that has nothing in it is one record, if its exit is in the same merge.
    #[must_use]
    pub fn of_marks(events: CallEvents, joins: bool) -> Self {
        let mut fold = Self::new(events.clone(), None);
        fold.scan = CallScan::new(events, true);
        fold.scan.machines = Some(Machines::default());
        fold.marks = Some(Marks::new(joins));
        fold
    }

    /// The marks of a merge, the next one of a fold that makes some, and which of its records
    /// are shown still, if any is not; `visible` as for [`Self::begin`].
    pub fn mark(
        &mut self,
        merge: &Merge,
        visible: Option<&[bool]>,
    ) -> (Vec<Mark>, Option<Vec<bool>>) {
        self.begin(merge, visible);
        let number = self.number;
        if let Some(marks) = &mut self.marks {
            marks.begin(merge.records, number);
        }
        self.advance(None);
        self.marks.as_mut().map(Marks::take).unwrap_or_default()
    }

    /// Begins a merge. A call is not in the tree if a filter hides its entry, with `false` in
    /// `visible`.
    pub fn begin(&mut self, merge: &Merge, visible: Option<&[bool]>) {
        self.position = 0;
        self.applied = false;
        self.next_loss = 0;
        if std::mem::take(&mut self.numbers_streams) {
            for stream in merge.streams.iter() {
                self.scan.layout(stream);
            }
        }
        self.check(merge);
        (self.plain, self.cursor, self.met) = (None, Cursor::default(), 0);
        if visible.is_none() && self.marks.is_none() && self.changes.as_slice().is_empty() {
            self.plain = PlainMerge::of(merge, &mut self.scan, &mut self.layouts);
        }
        if self.plain.is_none() {
            self.read(merge, visible);
        }
        self.losses = Vec::new();
        if merge.notices.is_empty() {
            return;
        }
        let mut starts = Vec::with_capacity(merge.runs.len());
        let mut end = 0;
        for run in &merge.runs {
            starts.push(end);
            end += (run.end - run.start) as usize;
        }
        for (rank, run, notice) in &merge.notices {
            let Some(stream) = merge.streams.get(*rank) else { continue };
            if !matches!(notice, Notice::Lost(_) | Notice::Damage(..)) {
                continue;
            }
            if self.is_known_loss(stream, notice) {
                continue;
            }
            let position = starts.get(*run).copied().unwrap_or(end);
            let loss = self.loss(stream, position, notice);
            self.losses.push(loss);
        }
    }

    fn read(&mut self, merge: &Merge, visible: Option<&[bool]>) {
        let (seen, told) = self.scan.read(merge, visible.is_some());
        self.seen = seen;
        for (one, visible) in self.seen.iter_mut().zip(visible.unwrap_or_default()) {
            one.choice = match one.choice {
                Choice::Shown if !visible => Choice::Hidden,
                Choice::Before if !visible => Choice::BeforeLeftOut,
                choice => choice,
            };
        }
        self.told = told.into_iter();
    }

    fn loss(&mut self, stream: &Arc<DataStream>, position: usize, notice: &Notice) -> Loss {
        let layout = self.scan.layout(stream);
        let own = layout.thread_stream().unwrap_or(NO_STREAM);
        let (mut time, mut until) = (None, None);
        if let Notice::Lost(lost) = notice {
            time = lost.beginning.map(|cycles| stream.nanoseconds(cycles));
            // LTTng loses events where it finds no buffer for the next packet, and nowhere
            // else; of others the packet behind may lack some.
            if lost.kind == LostKind::Events && !is_lttng(&stream.trace) {
                until = lost.end.map(|cycles| stream.nanoseconds(cycles));
            }
        }
        Loss { position, origin: (own, stream.identity.process_space), time, until }
    }

    /// Goes on to the next record that may change a process image, or to the record with
    /// the index `end`, or to the end of the merge. New functions must be taken before the
    /// image is changed.
    pub fn advance(&mut self, end: Option<usize>) -> Option<StateRecord> {
        if self.plain.is_some() {
            return self.advance_plain(end);
        }
        let seen = std::mem::take(&mut self.seen);
        let end = end.map_or(seen.len(), |end| end.clamp(self.position, seen.len()));
        let mut stop = None;
        for (index, one) in seen.iter().enumerate().take(end).skip(self.position) {
            self.apply_losses(index);
            stop = self.take(index, one);
            if stop.is_some() {
                break;
            }
        }
        self.position = stop.as_ref().map_or(end, |stop| stop.index);
        if stop.is_none() && end == seen.len() {
            self.apply_losses(usize::MAX);
        }
        self.seen = seen;
        stop
    }

    /// Takes the record at an index; returns it if it may change a process image.
    #[inline]
    pub(super) fn take(&mut self, index: usize, one: &Seen) -> Option<StateRecord> {
        if let Some(keeper) = &mut self.keeper {
            if !self.applied {
                keeper.add(one);
            }
        }
        if one.kind == Kind::State {
            self.fold.tree.now = one.time;
            if !self.applied {
                self.applied = true;
                let space = one.space as usize;
                return Some(StateRecord { index, space, vpid: i64::from(one.vpid) });
            }
        } else if one.kind == Kind::Code {
            self.add_code(one);
        } else if self.marks.is_some() {
            self.add_mark(index, one);
        } else if one.kind != Kind::Nothing {
            self.add(one);
        }
        if matches!(one.kind, Kind::Nothing | Kind::State | Kind::Code) {
            self.note_alive(one);
        }
        self.applied = false;
        None
    }

    #[inline]
    pub(super) fn apply_losses(&mut self, index: usize) {
        while self.losses.get(self.next_loss).is_some_and(|loss| loss.position <= index) {
            if let Some(loss) = self.losses.get(self.next_loss).copied() {
                self.lose(&loss);
            }
            self.next_loss += 1;
        }
    }

    fn lose(&mut self, loss: &Loss) {
        self.loss_epoch += 1;
        let lost = self.lost.entry(loss.origin).or_default();
        lost.count += 1;
        lost.time = lost.time.max(loss.time);
        lost.until = lost.until.max(loss.until);
    }

    /// Lets a thread know of the losses since its last record.
    pub(super) fn tell_losses(&mut self, index: usize, one: &Seen) {
        let Some(thread) = self.threads.get_mut(index) else { return };
        thread.loss_epoch = self.loss_epoch;
        let Some(lost) = self.lost.get(&(one.stream, one.space)) else { return };
        let count = lost.count - thread.known_losses;
        if count > 0 {
            thread.known_losses = lost.count;
            let time = lost.time.unwrap_or(thread.last);
            thread.lose(&mut self.fold, time.min(one.time), lost.until);
            // What was lost before a record that is before the range is, too.
            thread.losses += if one.time < self.fold.range.0 { 0 } else { count };
        }
    }

    fn add_code(&mut self, one: &Seen) {
        if let Some(told) = self.told.next() {
            let process = (one.space, one.vpid);
            self.fold.tree.now = one.time;
            self.fold.tree.add_code(process, one.address, one.site, &told);
        }
    }

    /// Takes a record and marks it.
    fn add_mark(&mut self, index: usize, one: &Seen) {
        let is_call = one.kind != Kind::Nothing;
        let number = self.number;
        if is_call {
            if let Some(marks) = &mut self.marks {
                marks.count(index);
            }
            // In no tree, and whether it is shown or not, or before the range of time.
            self.add(&Seen { choice: Choice::LeftOut, ..*one });
        }
        let found = if is_call { self.thread(one) } else { self.known_thread(one) };
        let Some(thread) = found.and_then(|index| self.threads.get_mut(index)) else { return };
        let Some(marks) = &mut self.marks else { return };
        if one.is_ambiguous {
            return;
        }
        let ended = thread.ended.take();
        let is_entry = matches!(one.kind, Kind::Entry | Kind::EntryElsewhere);
        let (kind, around) = match is_call {
            true if is_entry => (MarkKind::Entry, thread.depth.saturating_sub(1)),
            true => (MarkKind::Exit, thread.depth),
            false => (MarkKind::Other, thread.depth),
        };
        let duration = ended.and_then(|ended| ended.time);
        marks.set(index, Mark { depth: around, kind, duration });
        if one.choice != Choice::Shown {
            return;
        }
        // What an exit tells besides must not get lost.
        let is_whole = |ended: &Ended| thread.last_entry == Some(ended.entry) && !one.tells_more;
        if let Some(ended) = ended.filter(is_whole) {
            marks.join(ended.entry, index, duration);
        }
        thread.last_entry = is_entry.then_some(number);
    }

    /// The index of a record's thread, if anything was called there. The kernel's records are of
    /// the threads of programs.
    fn known_thread(&self, one: &Seen) -> Option<usize> {
        let machines = self.scan.machines.as_ref();
        if let Some(machine) = machines.and_then(|machines| machines.of_kernel(one.space)) {
            return self.on_machines.get(&(machine, one.vtid)).copied();
        }
        let key = one.thread_key();
        let last = self.last_thread.filter(|(last, _)| *last == key);
        last.map(|(_, index)| index).or_else(|| self.indexes.get(&key).copied())
    }

    #[inline]
    fn add(&mut self, one: &Seen) {
        while self.changes.as_slice().first().is_some_and(|change| change.0 <= one.time) {
            match self.changes.next() {
                Some((_, process, _, END_OF_PROCESS)) => self.end_process(process.0, process.1),
                Some((_, process, address, function)) => {
                    self.fold.tree.set_function(process, address, function);
                }
                None => {}
            }
        }
        let number = self.number;
        self.number += 1;
        if one.choice == Choice::Outside {
            return;
        }
        self.fold.be_patient();
        let found = self.thread(one);
        if found == Some(UNWANTED) {
            return;
        }
        let is_before = one.choice.is_before();
        self.calls += u64::from(!is_before);
        let Some(index) = found else {
            self.left_out += u64::from(!is_before);
            return;
        };
        if self.threads.get(index).is_some_and(|thread| thread.loss_epoch != self.loss_epoch) {
            self.tell_losses(index, one);
        }
        let Some(thread) = self.threads.get_mut(index) else { return };
        thread.choice = one.choice;
        let what = match one.kind {
            Kind::Entry => {
                thread.enter(&mut self.fold, one.address, one.site, one.time, number);
                return;
            }
            Kind::EntryElsewhere => {
                // What `ip` is of entries, it is of exits.
                thread.exits_are_named = false;
                thread.enter(&mut self.fold, one.address, one.site, one.time, number);
                return;
            }
            Kind::ExitOfCall => Leaving::Call(one.address, one.site),
            Kind::ExitOfIp if thread.exits_are_named => Leaving::Function(one.address),
            Kind::Exit | Kind::ExitOfIp => {
                thread.exits_are_named = false;
                Leaving::Innermost
            }
            Kind::Nothing | Kind::State | Kind::Code => return,
        };
        thread.leave(&mut self.fold, what, one.time, number);
    }

    /// The index of a record's thread.
    #[inline]
    pub(super) fn thread(&mut self, one: &Seen) -> Option<usize> {
        let key = one.thread_key();
        if let Some((_, index)) = self.last_thread.filter(|(last, _)| *last == key) {
            return Some(index);
        }
        let index = match self.indexes.get(&key) {
            Some(&index) => index,
            None if !self.is_wanted(one) => {
                if self.indexes.len() < 2 * MOST_THREADS {
                    self.indexes.insert(key, UNWANTED);
                }
                UNWANTED
            }
            None if self.threads.len() >= MOST_THREADS => return None,
            None => {
                let index = self.threads.len();
                let root = self.fold.tree.add_root();
                let process: Process = (one.space, one.vpid);
                let mut thread = Thread::new(process, one.vtid, (index as u32, root), one.time);
                if let Some(lost) = self.lost.get(&(one.stream, one.space)) {
                    // What was lost before it began is not its own.
                    thread.known_losses = lost.count;
                    if lost.until.is_some_and(|until| one.time <= until) {
                        thread.lose(&mut self.fold, one.time, lost.until);
                        thread.losses += 1;
                    }
                }
                thread.loss_epoch = self.loss_epoch;
                self.threads.push(thread);
                self.keys.push(key);
                self.indexes.insert(key, index);
                let machines = self.scan.machines.as_ref();
                if let Some(machine) = machines.and_then(|machines| machines.of(one.space)) {
                    self.on_machines.insert((machine, one.vtid), index);
                }
                self.threads_unknown |= one.is_ambiguous;
                index
            }
        };
        self.last_thread = Some((key, index));
        Some(index)
    }

    fn is_wanted(&self, one: &Seen) -> bool {
        let is_it = |(space, vpid, vtid): &ThreadChoice| {
            space.is_none_or(|space| space == one.space)
                && vpid.is_none_or(|vpid| vpid == one.vpid)
                && vtid.is_none_or(|vtid| vtid == one.vtid)
        };
        self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(is_it))
    }

    /// Notes each step of calls from now on, for [`CallFold::take_steps`].
    pub fn note_steps(&mut self) {
        self.fold.steps = Some(Vec::new());
    }

    /// The steps that were noted since the last call.
    pub fn take_steps(&mut self) -> Vec<CallStep> {
        self.fold.steps.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Gives steps back, for their memory.
    pub fn give_steps(&mut self, mut steps: Vec<CallStep>) {
        if let Some(kept) = self.fold.steps.as_mut().filter(|kept| kept.is_empty()) {
            steps.clear();
            *kept = steps;
        }
    }

    /// What tells threads apart, in the order in which they were seen.
    #[must_use]
    pub fn thread_keys(&self) -> &[ThreadKey] {
        &self.keys
    }

    /// The number of a data stream as the first part of keys of its threads has it.
    pub fn stream_number(&mut self, stream: &Arc<DataStream>) -> u32 {
        self.scan.layout(stream).thread_stream().unwrap_or(NO_STREAM)
    }

    /// The indexes of the records of a merge that are no entries and no exits.
    pub fn others(&mut self, merge: &Merge) -> Vec<usize> {
        let calls = self.scan.calls(merge).into_iter().enumerate();
        calls.filter(|(_, is_call)| !is_call).map(|(index, _)| index).collect()
    }

    /// For each event record class of a data stream, whether its records are entries or exits.
    pub fn call_classes(&mut self, stream: &Arc<DataStream>) -> Vec<bool> {
        self.scan.layout(stream).call_classes()
    }

    /// The call sites, up to the next stop, of which nothing is known yet.
    pub fn take_sites(&mut self) -> Vec<CallSite> {
        if self.plain.is_some() {
            return self.take_plain_sites();
        }
        let mut found = Vec::new();
        let mut known = HashSet::new();
        for (index, one) in self.seen.iter().enumerate().skip(self.position) {
            match one.kind {
                Kind::State if index > self.position || !self.applied => break,
                Kind::Entry | Kind::EntryElsewhere => self.need_site(one, &mut known, &mut found),
                _ => {}
            }
        }
        found
    }

    pub(super) fn need_site(
        &self,
        one: &Seen,
        known: &mut HashSet<(Process, u64)>,
        found: &mut Vec<CallSite>,
    ) {
        let process = (one.space, one.vpid);
        let is_known = one.site == 0 || self.fold.tree.knows_site(process, one.site);
        if !is_known && known.insert((process, one.site)) {
            found.push(CallSite { space: one.space, vpid: one.vpid, site: one.site });
        }
    }

    /// Tells in which functions call sites are, by the address of the function, 0 where it
    /// is not known. An entry from a site in an outer function ends the calls above that.
    pub fn add_sites(&mut self, sites: &[(CallSite, u64)]) {
        for (at, function) in sites {
            self.fold.tree.add_site((at.space, at.vpid), at.site, *function);
        }
    }

    /// Tells that a process executes another program: its calls are over. Of threads with a
    /// data stream of their own nothing is done, since the program gets another one.
    pub fn end_process(&mut self, space: u32, vpid: i32) {
        if let Some(keeper) = &mut self.keeper {
            keeper.ends.push((self.fold.tree.now, (space, vpid)));
        }
        for (key, &index) in &self.indexes {
            if (key.0, key.1, key.2) == (NO_STREAM, space, vpid) {
                if let Some(thread) = self.threads.get_mut(index) {
                    thread.finish(&mut self.fold);
                }
            }
        }
    }

    /// Tells that addresses of a process, the last one included, may be other functions
    /// from now on.
    pub fn forget(&mut self, space: u32, vpid: i32, first: u64, last: u64) {
        self.fold.tree.forget((space, vpid), first, last);
    }

    /// Tells that the code objects of a process are gone. Returns whether there were any.
    pub fn forget_codes(&mut self, space: u32, vpid: i32) -> bool {
        self.fold.tree.forget_codes((space, vpid))
    }

    /// The code object at an address, at this time of its process.
    #[must_use]
    pub fn find_code(&self, space: u32, vpid: i32, address: u64) -> Option<Code> {
        self.fold.tree.codes.find((space, vpid), address)
    }

    /// The function of a code object.
    #[must_use]
    pub fn code_name(&self, code: Code) -> Option<&CodeName> {
        self.fold.tree.codes.name(code.name)
    }

    /// Whether the trace tells of code objects.
    #[must_use]
    pub fn has_codes(&self) -> bool {
        self.fold.tree.codes.has_any()
    }

    /// The functions that are new since the last call, in the order of their indexes.
    pub fn take_functions(&mut self) -> Vec<NewFunction> {
        let pending = self.fold.tree.take_pending();
        let function = |((space, vpid), address, code): (Process, u64, Option<Code>)| NewFunction {
            space,
            vpid,
            address,
            code,
        };
        pending.into_iter().map(function).collect()
    }

    /// The calls that ended since the last call, if they are kept. Their functions have the
    /// numbers of the index, where the fold is of one.
    pub fn take_calls(&mut self) -> Vec<Call> {
        let calls = self.fold.sinks.as_mut().and_then(|sinks| sinks.calls.as_mut());
        let mut ended = calls.map(|calls| std::mem::take(&mut calls.ended)).unwrap_or_default();
        if let Some(ids) = &self.ids {
            for call in &mut ended {
                call.block.function = ids.of(call.block.function);
                call.caller = ids.of(call.caller);
            }
        }
        ended
    }

    /// Keeps the calls themselves, for [`CallFold::take_calls`]: those of some functions, by
    /// the numbers that [`CallFold::take_calls`] has, and of some threads, that take so long.
    pub fn keep_calls(&mut self, functions: Option<&[u32]>, rows: Option<&[u32]>, least: u64) {
        let functions = functions.map(|wanted| match &self.ids {
            Some(ids) => ids.numbers_of(wanted),
            None => flags(wanted.iter().copied()),
        });
        let rows = rows.map(|wanted| flags(wanted.iter().copied()));
        self.sinks().calls = Some(Calls { functions, rows, least, ..Calls::default() });
    }

    /// Keeps all calls, for [`CallFold::take_calls`]: also those that were not seen to begin,
    /// and those on paths that share a node.
    pub fn keep_all_calls(&mut self) {
        self.sinks().calls = Some(Calls { is_everything: true, ..Calls::default() });
    }

    /// For each record of the next merge of a second reading, whether to show it: entries
    /// and exits of short calls are not shown.
    pub fn select(&mut self, merge: &Merge) -> Vec<bool> {
        let calls = self.scan.calls(merge);
        let mut number = self.selected;
        let kept = self.fold.kept.as_ref().map(|(_, kept)| kept);
        let shown = calls.into_iter().map(|is_call| {
            if !is_call {
                return true;
            }
            let shown = kept.is_none_or(|kept| kept.has(number));
            number += 1;
            shown
        });
        let shown = shown.collect();
        self.selected = number;
        shown
    }
}

fn is_lttng(trace: &TraceClass) -> bool {
    trace.environment_string("tracer_name").is_some_and(|name| name.starts_with("lttng"))
}
