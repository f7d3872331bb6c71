//! Which of several merges goes on: merging what is merged already.
//!
//! Behind components that make what they give, the data streams are not known before. So
//! merges are merged here, one message after the other, in the order of Babeltrace 2: by
//! time, then by trace, stream class and stream, then by what the messages are.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::messages::{walk, Message};
use crate::model::EventClass;
use crate::muxer::{Merge, Notice};
use crate::stream::{Batch, BoundaryKind, DataStream, LostKind};

/// What decides about data streams at the same time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamKey {
    /// Trace, stream class and stream: bytes whose order is theirs.
    pub identity: Arc<[u8]>,
    /// Their names, which decide about messages that are alike.
    pub names: Arc<[u8]>,
}

/// A message of an input.
pub enum Step {
    /// An event record: its batch, its index there, and that in the merge.
    Event(Arc<Batch>, u32, usize),
    /// A notice, by its index in the merge.
    Notice(usize),
}

/// What is known of a message.
struct Waiting {
    rank: usize,
    /// Nanoseconds; none without a time of its own.
    time: Option<i64>,
    weight: u8,
    /// Numbers that decide about messages of the same kind.
    facts: [u64; 3],
    step: Step,
}

#[derive(Default)]
struct Input {
    waiting: VecDeque<Waiting>,
    keys: Vec<StreamKey>,
    has_ended: bool,
}

/// Chooses between merges.
pub struct MergeOrder {
    inputs: Vec<Input>,
    latest: i64,
}

impl MergeOrder {
    /// An order of so many inputs.
    #[must_use]
    pub fn new(count: usize) -> Self {
        let inputs = (0..count).map(|_| Input::default()).collect();
        Self { inputs, latest: i64::MIN }
    }

    /// Takes the next merge of an input, with a key for each of its data streams.
    pub fn put(&mut self, input: usize, merge: &Merge, keys: Vec<StreamKey>) {
        let Some(input) = self.inputs.get_mut(input) else { return };
        input.keys = keys;
        let mut notice = 0;
        for message in walk(merge) {
            input.waiting.push_back(match message {
                Message::Event { rank, batch, record, part: _, index } => {
                    let row = row_of(batch, record);
                    let time = batch.stream.has_clock().then(|| batch.nanoseconds(record));
                    let step = Step::Event(Arc::clone(batch), row, index);
                    Waiting { rank, time, weight: 2, facts: [0; 3], step }
                }
                Message::Notice(rank, found) => {
                    notice += 1;
                    waiting(merge.streams.get(rank), rank, notice - 1, found)
                }
            });
        }
    }

    /// Notes that nothing more comes of an input.
    pub fn end(&mut self, input: usize) {
        if let Some(input) = self.inputs.get_mut(input) {
            input.has_ended = true;
        }
    }

    /// The inputs of which nothing is known: without them nothing can go on.
    pub fn needed(&self) -> impl Iterator<Item = usize> + '_ {
        let needs = |input: &Input| input.waiting.is_empty() && !input.has_ended;
        self.inputs
            .iter()
            .enumerate()
            .filter(move |(_, input)| needs(input))
            .map(|(index, _)| index)
    }

    /// The input that goes on, and its next message; `None` when that is not known.
    pub fn next_step(&mut self) -> Option<(usize, Step)> {
        if self.needed().next().is_some() {
            return None;
        }
        let heads = self.inputs.iter().enumerate();
        let heads = heads.filter_map(|(index, input)| Some((index, input, input.waiting.front()?)));
        // The first of those that are equal.
        let (index, ..) = heads.reduce(|best, other| {
            let order = self.compare((best.1, best.2), (other.1, other.2));
            if order == Ordering::Greater {
                other
            } else {
                best
            }
        })?;
        let waiting = self.inputs.get_mut(index)?.waiting.pop_front()?;
        self.latest = waiting.time.unwrap_or(self.latest);
        Some((index, waiting.step))
    }

    fn compare(&self, one: (&Input, &Waiting), other: (&Input, &Waiting)) -> Ordering {
        let time = |waiting: &Waiting| waiting.time.unwrap_or(self.latest);
        time(one.1).cmp(&time(other.1)).then_with(|| {
            let default = StreamKey::default();
            let key = |(input, waiting): (&'_ Input, &Waiting)| {
                input.keys.get(waiting.rank).cloned().unwrap_or_else(|| default.clone())
            };
            let (first, second) = (key(one), key(other));
            let same = first.identity.cmp(&second.identity);
            let same = same.then_with(|| one.1.weight.cmp(&other.1.weight));
            let same = same.then_with(|| match (&one.1.step, &other.1.step) {
                (Step::Event(left, row, _), Step::Event(right, other_row, _)) => {
                    compare_events(class_of(left, *row), class_of(right, *other_row))
                }
                _ => Ordering::Equal,
            });
            same.then_with(|| first.names.cmp(&second.names))
                .then_with(|| one.1.facts.cmp(&other.1.facts))
        })
    }
}

fn row_of(batch: &Batch, record: &crate::stream::Record) -> u32 {
    let found = batch.records.binary_search_by_key(&record.start, |one| one.start);
    found.unwrap_or(0) as u32
}

/// What is known of a notice.
fn waiting(
    stream: Option<&Arc<DataStream>>,
    rank: usize,
    index: usize,
    notice: &Notice,
) -> Waiting {
    let nanoseconds = |cycles: Option<u64>| {
        let stream = stream.filter(|stream| stream.has_clock())?;
        Some(stream.nanoseconds(cycles?))
    };
    let mut facts = [0; 3];
    let (weight, cycles) = match notice {
        Notice::Boundary(boundary) => {
            let weight = match boundary.kind {
                BoundaryKind::StreamBeginning => 0,
                BoundaryKind::PacketBeginning(_) => 1,
                BoundaryKind::PacketEnd(_) => 4,
                BoundaryKind::StreamEnd => 7,
            };
            (weight, boundary.cycles)
        }
        Notice::Lost(lost) => {
            let count = lost.count.unwrap_or(u64::MAX);
            facts = [lost.beginning.unwrap_or(0), lost.end.unwrap_or(0), count];
            (if lost.kind == LostKind::Events { 3 } else { 6 }, lost.beginning)
        }
        Notice::Inactivity(cycles) => (5, Some(*cycles)),
        Notice::Damage(..) => (0, None),
    };
    let time = nanoseconds(cycles);
    Waiting { rank, time, weight, facts, step: Step::Notice(index) }
}

fn class_of(batch: &Batch, row: u32) -> Option<&EventClass> {
    batch.event_class(batch.records.get(row as usize)?)
}

/// IDs, names, log levels and URIs; what has no name comes first, what has no log level last.
fn compare_events(one: Option<&EventClass>, other: Option<&EventClass>) -> Ordering {
    let (Some(one), Some(other)) = (one, other) else { return Ordering::Equal };
    let level = |class: &EventClass| (class.log_level.is_none(), class.log_level);
    one.id
        .cmp(&other.id)
        .then_with(|| one.name.cmp(&other.name))
        .then_with(|| level(one).cmp(&level(other)))
        .then_with(|| one.emf_uri.cmp(&other.emf_uri))
}
