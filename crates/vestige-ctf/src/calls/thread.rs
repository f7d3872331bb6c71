//! The open calls of a thread, and what entries, exits and losses do to them.

use super::long_calls::LongCalls;
use super::process::Process;
use super::scan::Choice;
use super::steps::{CallStep, Step};
use super::tree::{End, Tree, AFTER_LOSS, MERGED, ROOT};
use super::turns::Turns;
use crate::intervals::blocks::{ACROSS_LOSS, OPEN_AT_BEGIN, OPEN_AT_END};
use crate::intervals::{Block, Call, Sinks};

/// How many more frames are searched in vain for each record.
const PATIENCE_OF_RECORD: u64 = 16;
/// How many frames at the top are always searched for the one that an exit ends.
const ALWAYS_SEARCHED: usize = 64;

/// An open call, or the mark of a loss.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    /// When it was entered; of a loss, the last time before it.
    pub(super) start: i64,
    /// Time of the calls it made that have ended.
    pub(super) inner: u64,
    /// Address of the function.
    pub(super) address: u64,
    /// Where it was called.
    pub(super) site: u64,
    /// Number of its entry.
    pub(super) number: u64,
    /// Node in the tree.
    pub(super) node: u32,
    /// Whether it stands for a loss.
    pub(super) is_loss: bool,
    /// Whether records right behind its entry may be lost.
    pub(super) is_in_doubt: bool,
    /// How many losses the thread had seen at its entry.
    pub(super) losses: u64,
    /// Whether the call is in the tree; its node is that of its caller otherwise.
    pub(super) is_shown: bool,
    /// How many calls are around it that are in the tree.
    pub(super) depth: u16,
}

/// A call that an exit has ended.
#[derive(Debug, Clone, Copy)]
pub struct Ended {
    /// Number of its entry.
    pub entry: u64,
    /// How long it took, nanoseconds; `None` where another call may be the one that ended.
    pub time: Option<u64>,
}

/// What an exit tells of the function that is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// Nothing: it is the innermost one.
    Innermost,
    /// Its address.
    Function(u64),
    /// Its address, and where it was called.
    Call(u64, u64),
}

/// What the calls of a thread are folded into.
#[derive(Clone)]
pub struct Fold {
    /// The nodes.
    pub tree: Tree,
    /// The frames of all threads together.
    pub frames: usize,
    /// How many frames there may be.
    pub most_frames: usize,
    /// How many frames may be searched in vain, so that no trace takes for ever.
    pub patience: u64,
    /// The records of calls that last at least so many nanoseconds.
    pub kept: Option<(u64, LongCalls)>,
    /// First and last time of the range of time that is wanted. Calls are cut there.
    pub range: (i64, i64),
    /// What else is kept of calls, if anything is.
    pub sinks: Option<Box<Sinks>>,
    /// What calls do, one by one, if that is wanted.
    pub steps: Option<Vec<CallStep>>,
    /// What the scheduler did to threads, if that is known.
    pub turns: Option<Box<Turns>>,
}

impl Fold {
    /// Takes note that there is one more record.
    #[inline]
    pub fn be_patient(&mut self) {
        self.patience = self.patience.saturating_add(PATIENCE_OF_RECORD);
    }

    #[inline]
    fn note_step(&mut self, thread: u32, node: u32, time: i64, step: Step) {
        if let Some(steps) = &mut self.steps {
            let function = self.tree.function_of(node);
            steps.push(CallStep { time, thread, function, step });
        }
    }
}

/// A thread and its open calls.
#[derive(Debug, Clone)]
pub struct Thread {
    /// The process.
    pub process: Process,
    /// Thread ID.
    pub vtid: i32,
    /// Node of its root.
    pub root: u32,
    /// Its index among the threads.
    pub row: u32,
    /// Time of its first entry or exit.
    pub first: i64,
    /// Time of its last entry or exit.
    pub last: i64,
    /// Time of its last record that is neither, as far as that is noted.
    pub last_other: Option<i64>,
    /// Time of the last of all its records, those that are not read included, if that is known.
    pub known_last: Option<i64>,
    /// Exits that nothing is known of: neither address nor entry.
    pub unknown_exits: u64,
    /// How many losses fall into its time.
    pub losses: u64,
    /// Whether exits tell their function.
    pub exits_are_named: bool,
    /// How many losses of its data stream or trace it knows of.
    pub known_losses: u64,
    /// When it was told of losses last.
    pub loss_epoch: u64,
    /// Whether the next record is wanted for itself. A call is in the tree if its entry is;
    /// the time of others is that of their callers.
    pub choice: Choice,
    /// How many calls a filter hides.
    pub hidden_calls: u64,
    /// How many calls are open.
    pub depth: u32,
    /// The call that the last exit ended.
    pub ended: Option<Ended>,
    /// The number of the last shown record, if it is an entry.
    pub last_entry: Option<u64>,
    pub(super) stack: Vec<Frame>,
    /// Whether steps are noted: it has come to the range of time.
    is_in_range: bool,
    /// Open calls beyond the limit.
    pub(super) hidden: u64,
    /// Since when no record is known to be lost.
    pub(super) since: i64,
    /// Up to when any record may be lost.
    pub(super) doubt: Option<i64>,
    /// Grows with each loss, and when one is known to be over.
    pub(super) marks: u64,
}

impl Thread {
    /// A thread that is seen for the first time.
    pub fn new(process: Process, vtid: i32, (row, root): (u32, u32), time: i64) -> Self {
        Self {
            process,
            vtid,
            root,
            row,
            first: time,
            last: time,
            last_other: None,
            known_last: None,
            unknown_exits: 0,
            losses: 0,
            exits_are_named: true,
            known_losses: 0,
            loss_epoch: 0,
            choice: Choice::Shown,
            hidden_calls: 0,
            depth: 0,
            ended: None,
            last_entry: None,
            stack: Vec::new(),
            is_in_range: false,
            hidden: 0,
            since: time,
            doubt: None,
            marks: 0,
        }
    }

    /// Takes note of the time of the next record.
    #[inline]
    fn advance(&mut self, fold: &mut Fold, time: i64, is_exit: bool) {
        if self.doubt.is_some_and(|until| time > until) {
            self.end_doubt(fold, time);
        }
        // What ends where the range begins is over there.
        let begin = fold.range.0;
        if !self.is_in_range && (time > begin || time == begin && !is_exit) {
            self.begin_range(fold);
        }
    }

    /// Notes that what is open where the range of time begins begins there.
    fn begin_range(&mut self, fold: &mut Fold) {
        self.is_in_range = true;
        let begin = fold.range.0;
        for frame in self.stack.iter().filter(|one| one.is_shown && !one.is_loss) {
            fold.note_step(self.row, frame.node, begin, Step::Begin);
        }
    }

    /// From here on no record is lost, but before any may have been.
    fn end_doubt(&mut self, fold: &mut Fold, time: i64) {
        self.doubt = None;
        if !self.exits_are_named {
            // Nobody will know which of these were left.
            while self.stack.last().is_some_and(|top| top.is_in_doubt) {
                self.end_top(fold, self.last, End::NoExit, None);
            }
        }
        self.push_loss(fold, time);
    }

    /// A function is entered.
    #[inline]
    pub fn enter(&mut self, fold: &mut Fold, address: u64, site: u64, time: i64, number: u64) {
        self.advance(fold, time, false);
        if let Some(function) = fold.tree.caller(self.process, site) {
            self.return_to(fold, function, site);
        }
        let (caller, depth) = self.stack.last().map_or((self.root, 0), Frame::inside);
        let is_shown = self.choice.is_wanted();
        self.hidden_calls += u64::from(self.choice == Choice::Hidden);
        let node = if is_shown {
            fold.tree.callee(caller, self.root, self.process, address)
        } else {
            caller
        };
        self.last = self.last.max(time);
        if fold.frames >= fold.most_frames {
            self.hidden += 1;
            if is_shown && time >= fold.range.0 {
                fold.tree.count_unfollowed(node);
            }
            return;
        }
        if is_shown {
            fold.tree.begin(node);
            if self.is_in_range {
                fold.note_step(self.row, node, time, Step::Begin);
            }
        }
        fold.frames += 1;
        self.depth += 1;
        self.stack.push(Frame {
            start: time,
            inner: 0,
            address,
            site,
            number,
            node,
            is_loss: false,
            is_in_doubt: self.doubt.is_some(),
            losses: self.marks,
            is_shown,
            depth,
        });
    }

    /// Something is called from a place in a function: calls above that function are over,
    /// and had no exits, since a jump left them.
    #[inline]
    fn return_to(&mut self, fold: &mut Fold, function: u64, site: u64) {
        let Some(top) = self.stack.last() else { return };
        // What is inlined has the call site of the function that it is inlined into.
        if top.is_loss || top.address == function || top.site == site {
            return;
        }
        if let Some(index) = self.find_caller(fold, function) {
            self.end_above(fold, index);
        }
    }

    /// The innermost call that has its code in a function, if that function is active.
    fn find_caller(&self, fold: &mut Fold, function: u64) -> Option<usize> {
        let patience = usize::try_from(fold.patience).unwrap_or(usize::MAX);
        let most = self.stack.len().min(patience.max(ALWAYS_SEARCHED));
        let frames = self.stack.iter().enumerate().rev().take(most);
        for (index, frame) in frames {
            if frame.is_loss {
                break;
            }
            if frame.address == function {
                let above = self.stack.iter().skip(index + 1);
                let inlined = above.take_while(|one| !one.is_loss && one.site == frame.site);
                return Some(index + inlined.count());
            }
        }
        fold.patience = fold.patience.saturating_sub(most as u64);
        None
    }

    /// A function is left.
    #[inline]
    pub fn leave(&mut self, fold: &mut Fold, what: Leaving, time: i64, number: u64) {
        self.advance(fold, time, true);
        if self.hidden > 0 {
            self.hidden -= 1;
        } else if self.doubt.is_some() && what == Leaving::Innermost {
            self.leave_unseen(fold, what, time, number);
        } else if self.stack.last().is_some_and(|top| top.is_left(what)) {
            self.end_top(fold, time, End::Complete, Some(number));
        } else {
            self.leave_outer(fold, what, time, number);
        }
        self.last = self.last.max(time);
    }

    /// A function is left that is not the innermost one.
    fn leave_outer(&mut self, fold: &mut Fold, what: Leaving, time: i64, number: u64) {
        let Some(index) = self.find(fold, what) else {
            self.leave_unseen(fold, what, time, number);
            return;
        };
        let inner = self.end_above(fold, index);
        if let Some(frame) = self.stack.last_mut() {
            frame.inner = frame.inner.saturating_add(inner);
        }
        self.end_top(fold, time, End::Complete, Some(number));
    }

    /// Ends all calls above one: an exception or a jump left them, or their exits are lost.
    /// Returns the time of calls after a loss, which belong to the one below.
    fn end_above(&mut self, fold: &mut Fold, index: usize) -> u64 {
        let mut alive = self.last;
        let mut inner = 0u64;
        while self.stack.len() > index + 1 {
            if self.stack.last().is_some_and(|frame| frame.is_loss) {
                let Some(loss) = self.stack.pop() else { break };
                fold.frames = fold.frames.saturating_sub(1);
                alive = loss.start;
                inner = inner.saturating_add(loss.inner);
            } else {
                self.end_top(fold, alive, End::NoExit, None);
            }
        }
        inner
    }

    /// The frame that an exit ends.
    fn find(&mut self, fold: &mut Fold, what: Leaving) -> Option<usize> {
        if what == Leaving::Innermost {
            return None;
        }
        let patience = usize::try_from(fold.patience).unwrap_or(usize::MAX);
        let most = self.stack.len().min(patience.max(ALWAYS_SEARCHED));
        let mut searched = self.stack.iter().rev().take(most);
        if let Some(above) = searched.position(|frame| frame.is_left(what)) {
            return Some(self.stack.len() - 1 - above);
        }
        fold.patience = fold.patience.saturating_sub(most as u64);
        // The same function with no record lost in between: its call site is told otherwise.
        let top = self.stack.last()?;
        let is_it = matches!(what, Leaving::Call(address, _) if address == top.address);
        (is_it && !top.is_loss).then(|| self.stack.len() - 1)
    }

    /// A function is left that was not seen to be entered.
    fn leave_unseen(&mut self, fold: &mut Fold, what: Leaving, time: i64, number: u64) {
        if self.choice != Choice::Shown || time < fold.range.0 {
            // Of one before the range of time nothing is in it.
            self.hidden_calls += u64::from(self.choice == Choice::Hidden);
            return;
        }
        let (Leaving::Function(address) | Leaving::Call(address, _)) = what else {
            self.unknown_exits += 1;
            self.keep_unseen(fold, time, number);
            return;
        };
        // Who called it is not known either.
        let node = fold.tree.callee(self.root, self.root, self.process, address);
        fold.tree.end_unseen(node);
        fold.note_step(self.row, node, time, Step::Unseen);
        let function = fold.tree.function_of(node);
        if let Some(calls) = fold.sinks.as_mut().and_then(|sinks| sinks.calls.as_mut()) {
            calls.add_unseen(self.row, function, time);
        }
        self.keep_unseen(fold, time, number);
    }

    fn keep_unseen(&self, fold: &mut Fold, time: i64, number: u64) {
        if let Some((least, kept)) = &mut fold.kept {
            if elapsed(self.since, time) >= *least {
                kept.set(number);
            }
        }
    }

    /// Ends the innermost call.
    #[inline]
    fn end_top(&mut self, fold: &mut Fold, time: i64, end: End, number: Option<u64>) {
        // It is not taken from the stack as a whole: of a call that has just begun, that would
        // wait for what was written.
        let Some(frame) = self.stack.last() else { return };
        if number.is_some() {
            let is_sure = self.exits_are_named || frame.losses == self.marks;
            let time = is_sure.then(|| elapsed(frame.start, time));
            self.ended = Some(Ended { entry: frame.number, time });
        }
        let time = if frame.is_shown {
            self.end_frame(fold, frame, time, (end, number))
        } else {
            frame.inner
        };
        self.stack.pop();
        fold.frames = fold.frames.saturating_sub(1);
        self.depth = self.depth.saturating_sub(1);
        if let Some(caller) = self.stack.last_mut() {
            caller.inner = caller.inner.saturating_add(time);
        }
    }

    /// Counts a call that ends. Returns how long it took.
    #[inline]
    fn end_frame(
        &self,
        fold: &mut Fold,
        frame: &Frame,
        time: i64,
        (end, number): (End, Option<u64>),
    ) -> u64 {
        let elapsed = if frame.is_in_doubt && end == End::NoExit {
            // Its exit may be lost anywhere behind the last call that it is known to make.
            frame.inner
        } else {
            elapsed(frame.start.max(fold.range.0), time)
        };
        let is_left = matches!(end, End::Complete | End::AcrossLoss);
        let end = self.how_it_ends(fold, frame, time, end);
        let is_outermost = fold.tree.end(frame.node, elapsed, frame.inner, end);
        if let Some(turns) = fold.turns.as_mut().filter(|_| is_outermost) {
            let begin = frame.start.max(fold.range.0);
            let left = begin.saturating_add_unsigned(elapsed);
            turns.add(frame.node, (self.process.0, self.vtid), begin, left);
        }
        if self.is_in_range {
            let begin = frame.start.max(fold.range.0);
            let left = begin.saturating_add_unsigned(elapsed);
            fold.note_step(self.row, frame.node, left, Step::End(end));
        }
        if fold.sinks.is_some() {
            self.keep(fold, frame, elapsed, (end, is_left));
        }
        if let Some((least, kept)) = &mut fold.kept {
            if elapsed >= *least {
                kept.set(frame.number);
                if let Some(number) = number {
                    kept.set(number);
                }
            }
        }
        elapsed
    }

    /// Keeps what is wanted of a call besides its place in the tree.
    fn keep(&self, fold: &mut Fold, frame: &Frame, elapsed: u64, (end, is_left): (End, bool)) {
        let Some(sinks) = &mut fold.sinks else { return };
        let Some(node) = fold.tree.nodes.get(frame.node as usize) else { return };
        let function = node.function;
        let is_function = function < MERGED;
        let is_everything = sinks.calls.as_ref().is_some_and(|calls| calls.is_everything);
        if end == End::Before || !is_function && !is_everything {
            return;
        }
        if end == End::Complete && is_function {
            if let Some(durations) = &mut sinks.durations {
                durations.add(function, frame.node, frame.start, elapsed);
            }
        }
        if sinks.pyramid.is_none() && sinks.calls.is_none() {
            return;
        }
        let start = frame.start.max(fold.range.0);
        let mut flags = if start > frame.start { OPEN_AT_BEGIN } else { 0 };
        flags |= if is_left { 0 } else { OPEN_AT_END };
        flags |= if end == End::AcrossLoss { ACROSS_LOSS } else { 0 };
        let block = Block {
            row: self.row,
            depth: frame.depth,
            flags,
            function,
            start,
            duration: elapsed,
            count: 1,
            busy: elapsed,
        };
        if let Some(pyramid) = sinks.pyramid.as_mut().filter(|_| is_function) {
            pyramid.add(block);
        }
        if let Some(calls) = sinks.calls.as_mut().filter(|calls| calls.takes(&block)) {
            let caller = fold.tree.nodes.get(node.parent as usize);
            let caller = caller.map_or(ROOT, |node| node.function);
            let own = elapsed.saturating_sub(frame.inner);
            calls.ended.push(Call { block, own, caller, state: end.number() });
        }
    }

    /// What the end of a call is, with what is known besides.
    #[inline]
    fn how_it_ends(&self, fold: &Fold, frame: &Frame, time: i64, end: End) -> End {
        if frame.start < fold.range.0 {
            // What ends where the range begins has no time in it.
            return if time <= fold.range.0 { End::Before } else { End::Clipped };
        }
        let is_across =
            end == End::Complete && (frame.losses != self.marks || self.doubt.is_some());
        if is_across {
            End::AcrossLoss
        } else {
            end
        }
    }

    /// Records of the thread are lost here, and behind it perhaps up to some time.
    pub fn lose(&mut self, fold: &mut Fold, time: i64, until: Option<i64>) {
        self.doubt = self.doubt.max(until);
        self.push_loss(fold, time);
    }

    fn push_loss(&mut self, fold: &mut Fold, time: i64) {
        self.since = self.since.max(time);
        self.marks += 1;
        self.hidden = 0;
        if self.stack.last().is_none_or(|top| top.is_loss) {
            return;
        }
        let node = fold.tree.special(self.root, AFTER_LOSS);
        fold.frames += 1;
        self.stack.push(Frame {
            start: self.last,
            inner: 0,
            address: 0,
            site: 0,
            number: 0,
            node,
            is_loss: true,
            is_in_doubt: false,
            losses: self.marks,
            is_shown: true,
            depth: self.stack.last().map_or(0, |top| top.inside().1),
        });
    }

    /// The range of time ends: what is open goes on behind it, unless records were lost
    /// since it began.
    pub fn finish_range(&mut self, fold: &mut Fold) {
        let end = fold.range.1;
        if !self.is_in_range {
            self.begin_range(fold);
        }
        if self.stack.last().is_some_and(|top| !top.is_loss) {
            self.last = self.last.max(end);
        }
        while self.stack.last().is_some_and(|top| !top.is_loss) {
            self.end_top(fold, end, End::Clipped, None);
        }
        self.finish(fold);
    }

    /// Nothing more comes: what is open has no exit.
    pub fn finish(&mut self, fold: &mut Fold) {
        let mut alive = self.last.max(self.last_other.unwrap_or(self.last));
        while let Some(top) = self.stack.last() {
            if top.is_loss {
                alive = top.start;
                self.stack.pop();
                fold.frames = fold.frames.saturating_sub(1);
            } else {
                self.end_top(fold, alive, End::NoExit, None);
            }
        }
        self.stack = Vec::new();
    }
}

impl Frame {
    /// The node and the depth of what is called inside.
    #[inline]
    pub(super) fn inside(&self) -> (u32, u16) {
        let is_call = !self.is_loss && self.is_shown;
        (self.node, self.depth.saturating_add(u16::from(is_call)))
    }

    /// Whether an exit that tells so much is its own.
    #[inline]
    fn is_left(&self, what: Leaving) -> bool {
        !self.is_loss
            && match what {
                Leaving::Innermost => true,
                Leaving::Function(address) => self.address == address,
                Leaving::Call(address, site) => self.address == address && self.site == site,
            }
    }
}

/// Nanoseconds from one time to another; none when the clock went back.
fn elapsed(from: i64, to: i64) -> u64 {
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::codes::Told;
    use super::super::tree::{Node, MAX_NODES};
    use super::*;

    const PROCESS: Process = (0, 1);

    fn fold() -> (Fold, Thread) {
        let (frames, most_frames, patience) = (0, 1 << 22, 1 << 20);
        let mut fold = Fold {
            tree: Tree::default(),
            frames,
            most_frames,
            patience,
            kept: None,
            range: (i64::MIN, i64::MAX),
            sinks: None,
            steps: None,
            turns: None,
        };
        let root = fold.tree.add_root();
        let thread = Thread::new(PROCESS, 1, (0, root), 0);
        (fold, thread)
    }

    fn sum(fold: &Fold, of: impl Fn(&Node) -> u64) -> u64 {
        fold.tree.nodes.iter().map(of).sum()
    }

    #[test]
    fn a_million_levels_of_recursion_are_counted_with_few_nodes() {
        let (mut fold, mut thread) = fold();
        let depth = 1_000_000;
        for level in 0..depth {
            thread.enter(&mut fold, 10 + level as u64 % 3, 0, level, 0);
        }
        for level in 0..depth {
            thread.leave(&mut fold, Leaving::Innermost, depth + level, 0);
        }
        assert_eq!(sum(&fold, |node| node.complete), depth as u64);
        assert_eq!(sum(&fold, |node| node.own), 2 * depth as u64 - 1);
        assert!(fold.tree.nodes.len() < 1000, "{} nodes", fold.tree.nodes.len());
        assert_eq!(fold.frames, 0);
    }

    #[test]
    fn exits_of_nobody_do_not_search_a_deep_stack_again_and_again() {
        let (mut fold, mut thread) = fold();
        for level in 0..1_000_000 {
            thread.enter(&mut fold, 10, 0, level, 0);
        }
        // As many steps as frames times exits would take hours.
        for time in 1_000_000..3_000_000 {
            thread.leave(&mut fold, Leaving::Function(20), time, 0);
        }
        assert_eq!(sum(&fold, |node| node.no_entry), 2_000_000);
        // What is at the top is found all the same.
        thread.leave(&mut fold, Leaving::Function(10), 3_000_000, 0);
        assert_eq!(sum(&fold, |node| node.complete), 1);
        thread.finish(&mut fold);
        assert_eq!(sum(&fold, |node| node.no_exit), 999_999);
    }

    #[test]
    fn calls_beyond_the_limit_are_counted_and_exits_still_fit() {
        let (mut fold, mut thread) = fold();
        fold.most_frames = 100;
        for level in 0..150 {
            thread.enter(&mut fold, 10, 0, level, 0);
        }
        for level in 0..150 {
            thread.leave(&mut fold, Leaving::Innermost, 150 + level, 0);
        }
        let counts = [sum(&fold, |n| n.calls), sum(&fold, |n| n.no_exit)];
        assert_eq!((counts, sum(&fold, |n| n.complete)), ([150, 50], 100));
        assert_eq!(thread.unknown_exits, 0);
    }

    #[test]
    fn paths_beyond_the_limit_share_nodes() {
        let (mut fold, mut thread) = fold();
        let calls = MAX_NODES as u64 * 2;
        for number in 0..calls {
            // Pairs of a caller and a callee: each another path.
            let time = number as i64 * 4;
            thread.enter(&mut fold, 1 + number % 2048, 0, time, 0);
            thread.enter(&mut fold, 5000 + number / 2048, 0, time + 1, 0);
            thread.leave(&mut fold, Leaving::Innermost, time + 2, 0);
            thread.leave(&mut fold, Leaving::Innermost, time + 3, 0);
        }
        assert_eq!(sum(&fold, |node| node.complete), 2 * calls);
        assert_eq!(sum(&fold, |node| node.own), 3 * calls);
        assert!(!fold.tree.has_room());
        assert!(fold.tree.nodes.len() < MAX_NODES + 8192, "{} nodes", fold.tree.nodes.len());
    }

    #[test]
    fn an_address_that_is_forgotten_is_another_function() {
        let (mut fold, mut thread) = fold();
        for time in 0..3 {
            thread.enter(&mut fold, 10, 0, time * 2, 0);
            thread.leave(&mut fold, Leaving::Innermost, time * 2 + 1, 0);
            if time == 1 {
                fold.tree.forget(PROCESS, 5, 10);
                fold.tree.forget((0, 2), 0, u64::MAX);
            }
        }
        assert_eq!(fold.tree.take_pending(), [(PROCESS, 10, None), (PROCESS, 10, None)]);
        let calls: Vec<u64> = fold.tree.nodes.iter().skip(1).map(|node| node.calls).collect();
        assert_eq!(calls, [2, 1]);
    }

    #[test]
    fn code_objects_of_a_function_share_a_node() {
        let (mut fold, mut thread) = fold();
        let told = |function: &str| Told {
            path: b"/a.py"[..].into(),
            function: function.as_bytes().into(),
            line: 1,
        };
        for (time, (base, name)) in [(16, "f"), (32, "f"), (16, "g"), (48, "g")].iter().enumerate()
        {
            fold.tree.add_code(PROCESS, *base, 16, &told(name));
            thread.enter(&mut fold, *base, 0, time as i64, 0);
            thread.leave(&mut fold, Leaving::Innermost, time as i64, 0);
        }
        let calls: Vec<u64> = fold.tree.nodes.iter().skip(1).map(|node| node.calls).collect();
        assert_eq!(calls, [2, 2]);
        assert_eq!(fold.tree.take_pending().len(), 2);
    }

    #[test]
    fn a_call_site_in_an_outer_function_ends_what_is_above() {
        let (mut fold, mut thread) = fold();
        fold.tree.add_site(PROCESS, 11, 10);
        thread.enter(&mut fold, 10, 1, 0, 0);
        thread.enter(&mut fold, 20, 11, 1, 0);
        thread.enter(&mut fold, 30, 21, 2, 0);
        // After a jump to the first.
        thread.enter(&mut fold, 20, 11, 9, 0);
        assert_eq!(thread.stack.len(), 2);
        assert_eq!((sum(&fold, |n| n.no_exit), sum(&fold, |n| n.own)), (2, 1));
    }

    #[test]
    fn an_inlined_function_may_have_the_call_site_of_an_outer_one() {
        let (mut fold, mut thread) = fold();
        fold.tree.add_site(PROCESS, 1, 5);
        fold.tree.add_site(PROCESS, 11, 10);
        thread.enter(&mut fold, 5, 2, 0, 0);
        thread.enter(&mut fold, 10, 1, 1, 0);
        // Inlined into it, and one more into that; then a call from the code of both.
        thread.enter(&mut fold, 20, 1, 2, 0);
        thread.enter(&mut fold, 30, 1, 3, 0);
        thread.enter(&mut fold, 40, 11, 4, 0);
        assert_eq!(thread.stack.len(), 5);
    }
}
