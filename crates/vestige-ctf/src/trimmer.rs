//! A range of time of merges that are there already.
//!
//! Where a range of time stands directly behind sources, their readers take it
//! ([`Selection`](crate::stream::Selection)) and read no more than that. Here it is an operation on
//! merges with boundaries, whoever made them: records outside of the range are left out, and what
//! begins before it or ends behind it is cut, as by Babeltrace 2's trimmer.

use std::collections::HashMap;
use std::sync::Arc;

use crate::messages::{pieces, Piece};
use crate::muxer::{Merge, Notice, Run};
use crate::stream::{Boundary, BoundaryKind, DataStream, Lost, Packet};

/// A data stream that has begun and not ended.
struct Open {
    stream: Arc<DataStream>,
    packet: Option<Arc<Packet>>,
    /// Whether anything of it so far had a time.
    timed: bool,
}

impl Open {
    fn boundary(&self, kind: BoundaryKind, time: Option<i64>) -> Notice {
        let cycles = time.filter(|_| self.timed).map(|time| self.stream.cycles(time));
        Notice::Boundary(Boundary { kind, cycles, is_cut: cycles.is_some() })
    }
}

/// Where the messages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before the range.
    Seeking,
    /// In it.
    Inside,
    /// After it.
    Ended,
}

/// Cuts merges to a range of time, both ends included.
pub struct Trimmer {
    begin: Option<i64>,
    end: Option<i64>,
    phase: Phase,
    open: HashMap<usize, Open>,
    /// Losses that began before the range and ended in it.
    losses: Vec<(Arc<DataStream>, Lost)>,
}

/// A merge that is being made: it, and for each record its index before.
struct Cut {
    merge: Merge,
    kept: Vec<usize>,
}

impl Cut {
    fn tell(&mut self, rank: usize, notice: Notice) {
        self.merge.notices.push((rank, self.merge.runs.len(), notice));
    }
}

impl Trimmer {
    /// A trimmer of a range in nanoseconds from the origin; `None` for no limit.
    #[must_use]
    pub fn new(begin: Option<i64>, end: Option<i64>) -> Self {
        let phase = if begin.is_some() { Phase::Seeking } else { Phase::Inside };
        Self { begin, end, phase, open: HashMap::new(), losses: Vec::new() }
    }

    /// Whether the range is over: nothing comes any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// What of a merge with boundaries is in the range, and for each of its records the index
    /// before.
    pub fn trim(&mut self, merge: &Merge) -> (Merge, Vec<usize>) {
        let mut cut = Cut { merge: Merge::default(), kept: Vec::new() };
        cut.merge.streams = Arc::clone(&merge.streams);
        cut.merge.batches.clone_from(&merge.batches);
        for piece in pieces(merge) {
            match piece {
                _ if self.has_ended() => break,
                Piece::Run { run, first, .. } => self.run(merge, run, first, &mut cut),
                Piece::Notice(rank, notice) => {
                    if let Some(stream) = merge.streams.get(rank) {
                        self.notice(stream, rank, notice, &mut cut);
                    }
                }
            }
        }
        cut.merge.records = cut.kept.len();
        (cut.merge, cut.kept)
    }

    fn run(&mut self, merge: &Merge, run: Run, first: usize, cut: &mut Cut) {
        let Some((batch, records)) = merge.run(&run) else { return };
        let stream = &batch.stream;
        let is_before =
            |begin| records.partition_point(|one| stream.nanoseconds(one.cycles) < begin);
        let is_until = |end| records.partition_point(|one| stream.nanoseconds(one.cycles) <= end);
        let skipped = match (self.phase, self.begin) {
            (Phase::Seeking, Some(begin)) => is_before(begin),
            _ => 0,
        };
        if skipped > 0 {
            self.see(stream);
        }
        if skipped == records.len() {
            return;
        }
        self.begin(cut);
        let end = self.end.map_or(records.len(), is_until).max(skipped);
        if end > skipped {
            self.see(stream);
            let (start, until) = (run.start + skipped as u32, run.start + end as u32);
            cut.merge.runs.push(Run { start, end: until, ..run });
            cut.kept.extend(first + skipped..first + end);
        }
        if end < records.len() {
            self.finish(cut);
        }
    }

    /// Notes that something of a data stream had a time.
    fn see(&mut self, stream: &Arc<DataStream>) {
        if let Some(open) = self.open.get_mut(&(Arc::as_ptr(stream) as usize)) {
            open.timed = true;
        }
    }

    fn notice(&mut self, stream: &Arc<DataStream>, rank: usize, notice: &Notice, cut: &mut Cut) {
        let cycles = match notice {
            Notice::Boundary(boundary) => boundary.cycles,
            Notice::Inactivity(cycles) => Some(*cycles),
            Notice::Lost(lost) => lost.beginning,
            // What is wrong is told whatever is wanted.
            Notice::Damage(..) => return cut.tell(rank, notice.clone()),
        };
        let time = cycles.map(|cycles| stream.nanoseconds(cycles));
        if self.phase == Phase::Seeking {
            if time.zip(self.begin).is_none_or(|(time, begin)| time < begin) {
                return self.skip(stream, notice);
            }
            self.begin(cut);
        }
        if let Notice::Lost(lost) = notice {
            if lost.beginning.is_some() {
                self.see(stream);
            }
        }
        if time.zip(self.end).is_some_and(|(time, end)| time > end) {
            return self.finish(cut);
        }
        self.track(stream, notice, time.is_some());
        cut.tell(rank, self.shortened(stream, notice));
    }

    /// A loss without what of it is behind the range.
    fn shortened(&self, stream: &DataStream, notice: &Notice) -> Notice {
        let mut notice = notice.clone();
        if let (Notice::Lost(lost), Some(end)) = (&mut notice, self.end) {
            if lost.end.is_some_and(|until| stream.nanoseconds(until) > end) {
                (lost.end, lost.count) = (Some(stream.cycles(end)), None);
            }
        }
        notice
    }

    /// Leaves out what is before the range, but for a loss that reaches into it.
    fn skip(&mut self, stream: &Arc<DataStream>, notice: &Notice) {
        if let (Notice::Lost(lost), Some(begin)) = (notice, self.begin) {
            let reaches = |end| stream.nanoseconds(end) >= begin;
            if lost.beginning.is_some() && lost.end.is_some_and(reaches) {
                let beginning = Some(stream.cycles(begin));
                let lost = Lost { beginning, count: None, ..lost.clone() };
                return self.losses.push((Arc::clone(stream), lost));
            }
            if lost.beginning.is_some() {
                self.see(stream);
            }
        }
        if let Notice::Boundary(boundary) = notice {
            self.track(stream, notice, boundary.cycles.is_some());
        }
    }

    /// Follows what has begun and not ended.
    fn track(&mut self, stream: &Arc<DataStream>, notice: &Notice, timed: bool) {
        let Notice::Boundary(boundary) = notice else { return };
        let key = Arc::as_ptr(stream) as usize;
        if let BoundaryKind::StreamEnd = boundary.kind {
            self.open.remove(&key);
            return;
        }
        let new = || Open { stream: Arc::clone(stream), packet: None, timed: false };
        let open = self.open.entry(key).or_insert_with(new);
        open.timed |= timed;
        match &boundary.kind {
            BoundaryKind::PacketBeginning(packet) => open.packet = Some(Arc::clone(packet)),
            BoundaryKind::PacketEnd(_) => open.packet = None,
            BoundaryKind::StreamBeginning | BoundaryKind::StreamEnd => {}
        }
    }

    /// Begins the range: what goes on begins here, and then what was lost until here.
    fn begin(&mut self, cut: &mut Cut) {
        if self.phase != Phase::Seeking {
            return;
        }
        self.phase = Phase::Inside;
        let streams = Arc::clone(&cut.merge.streams);
        for (rank, stream) in streams.iter().enumerate() {
            let Some(open) = self.open.get(&(Arc::as_ptr(stream) as usize)) else { continue };
            cut.tell(rank, open.boundary(BoundaryKind::StreamBeginning, self.begin));
            if let Some(packet) = &open.packet {
                let kind = BoundaryKind::PacketBeginning(Arc::clone(packet));
                cut.tell(rank, open.boundary(kind, self.begin));
            }
        }
        for (stream, lost) in std::mem::take(&mut self.losses) {
            let Some(rank) = streams.iter().position(|one| Arc::ptr_eq(one, &stream)) else {
                continue;
            };
            let notice = self.shortened(&stream, &Notice::Lost(lost));
            cut.tell(rank, notice);
        }
    }

    /// Ends the range: what goes on ends here.
    fn finish(&mut self, cut: &mut Cut) {
        self.phase = Phase::Ended;
        let streams = Arc::clone(&cut.merge.streams);
        for (rank, stream) in streams.iter().enumerate() {
            let Some(open) = self.open.remove(&(Arc::as_ptr(stream) as usize)) else { continue };
            if let Some(packet) = &open.packet {
                let kind = BoundaryKind::PacketEnd(Arc::clone(packet));
                cut.tell(rank, open.boundary(kind, self.end));
            }
            cut.tell(rank, open.boundary(BoundaryKind::StreamEnd, self.end));
        }
    }
}
