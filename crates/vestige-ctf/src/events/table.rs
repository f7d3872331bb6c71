//! Counting the event records of merges by class and thread.

use std::collections::HashMap;
use std::sync::Arc;

use super::fields::{OfPacket, WhoFields};
use super::who::Who;
use crate::muxer::Merge;
use crate::places::scan::{read_records, RecordTask};
use crate::record::State;
use crate::stream::{Batch, DataStream, Part, Record};

/// How many pairs of a class and a thread are told apart.
const MOST_ROWS: usize = 1 << 18;
/// How many threads have names.
const MOST_NAMES: usize = 1 << 16;

/// How many event records there are, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventCount {
    /// How many.
    pub records: u64,
    /// Time of the first one, nanoseconds from the origin of the clock.
    pub first: i64,
    /// Time of the last one.
    pub last: i64,
}

impl Default for EventCount {
    fn default() -> Self {
        Self { records: 0, first: i64::MAX, last: i64::MIN }
    }
}

impl EventCount {
    #[inline]
    fn add(&mut self, time: i64) {
        self.records += 1;
        self.first = self.first.min(time);
        self.last = self.last.max(time);
    }

    fn join(&mut self, other: &Self) {
        self.records += other.records;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}

/// The event records of one name and one thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Index of the name.
    pub name: usize,
    /// Who made them.
    pub who: Who,
    /// How many there are.
    pub count: EventCount,
}

/// The names of the classes of a data stream, and where their records tell who made them.
struct Layout {
    classes: Vec<(usize, WhoFields)>,
}

/// Counts event records by name and thread.
#[derive(Default)]
pub struct EventTable {
    names: Vec<Option<String>>,
    indexes: HashMap<Option<String>, usize>,
    layouts: HashMap<u64, Arc<Layout>>,
    totals: Vec<EventCount>,
    rows: HashMap<(usize, Who), EventCount>,
    process_names: HashMap<Who, String>,
    left_out: u64,
}

impl EventTable {
    /// Counts the event records of a merge.
    pub fn add(&mut self, merge: &Merge) {
        let layouts: Vec<Arc<Layout>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        for task in read_records::<Task>(merge, &layouts) {
            for slot in task.slots {
                self.take(slot);
            }
        }
    }

    fn take(&mut self, slot: Slot) {
        if let Some(name) = slot.name {
            if self.process_names.len() < MOST_NAMES {
                self.process_names.insert(slot.who, name);
            }
        }
        for ((name, _), count) in slot.layout.classes.iter().zip(&slot.counts) {
            if count.records == 0 {
                continue;
            }
            if let Some(total) = self.totals.get_mut(*name) {
                total.join(count);
            }
            let has_room = self.rows.len() < MOST_ROWS;
            match self.rows.get_mut(&(*name, slot.who)) {
                Some(known) => known.join(count),
                None if has_room => {
                    self.rows.insert((*name, slot.who), *count);
                }
                None => self.left_out += count.records,
            }
        }
    }

    fn layout(&mut self, stream: &DataStream) -> Arc<Layout> {
        let key = stream.classes();
        if let Some(layout) = self.layouts.get(&key) {
            return Arc::clone(layout);
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let classes = class.map_or(&[][..], |class| &class.event_classes);
        let classes: Vec<(usize, WhoFields)> = classes
            .iter()
            .enumerate()
            .map(|(index, class)| (self.name(class.name.as_ref()), WhoFields::of(stream, index)))
            .collect();
        let layout = Arc::new(Layout { classes });
        self.layouts.insert(key, Arc::clone(&layout));
        layout
    }

    fn name(&mut self, name: Option<&String>) -> usize {
        let name = name.cloned();
        if let Some(index) = self.indexes.get(&name) {
            return *index;
        }
        let index = self.names.len();
        self.names.push(name.clone());
        self.totals.push(EventCount::default());
        self.indexes.insert(name, index);
        index
    }

    /// The names of event record classes and how many records there are of each; also none.
    pub fn totals(&self) -> impl Iterator<Item = (Option<&str>, &EventCount)> {
        self.names.iter().map(Option::as_deref).zip(&self.totals)
    }

    /// The records by name and thread, in no order.
    #[must_use]
    pub fn rows(&self) -> Vec<EventRow> {
        let row =
            |(&(name, who), &count): (&(usize, Who), &EventCount)| EventRow { name, who, count };
        self.rows.iter().map(row).collect()
    }

    /// The name of the process of a thread, where contexts tell it: the last one it had.
    #[must_use]
    pub fn process_name(&self, who: &Who) -> Option<&str> {
        self.process_names.get(who).map(String::as_str)
    }

    /// How many records are in no row, since there are too many threads.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// The records of a thread in some data streams of the same classes.
struct Slot {
    layout: Arc<Layout>,
    who: Who,
    name: Option<String>,
    counts: Vec<EventCount>,
}

/// Counts some records of a merge.
#[derive(Default)]
struct Task {
    slots: Vec<Slot>,
    indexes: HashMap<(usize, Who), usize>,
    last: usize,
}

impl Task {
    #[inline]
    fn slot(&mut self, layout: &Arc<Layout>, who: Who) -> usize {
        let is_same = |slot: &Slot| slot.who == who && Arc::ptr_eq(&slot.layout, layout);
        if !self.slots.get(self.last).is_some_and(is_same) {
            let slots = &mut self.slots;
            let key = (Arc::as_ptr(layout) as usize, who);
            self.last = *self.indexes.entry(key).or_insert_with(|| {
                let counts = vec![EventCount::default(); layout.classes.len()];
                slots.push(Slot { layout: Arc::clone(layout), who, name: None, counts });
                slots.len() - 1
            });
        }
        self.last
    }
}

impl RecordTask for Task {
    type Layout = Arc<Layout>;
    type Packet = Option<OfPacket>;

    fn packet(layout: &Arc<Layout>, batch: &Batch, part: &Part) -> Option<OfPacket> {
        layout.classes.first().map(|(_, fields)| fields.of_packet(batch, part))
    }

    fn run(
        &mut self,
        layout: &Arc<Layout>,
        packet: &Option<OfPacket>,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let Some(packet) = packet else { return };
        for record in records {
            let class = record.class as usize;
            let Some((_, fields)) = layout.classes.get(class) else { continue };
            let who = fields.read(packet, batch, record, state);
            let index = self.slot(layout, who);
            let Some(slot) = self.slots.get_mut(index) else { continue };
            if slot.name.is_none() {
                slot.name = fields.name(batch, batch.part_of(record), record, state);
            }
            if let Some(count) = slot.counts.get_mut(class) {
                count.add(batch.nanoseconds(record));
            }
        }
    }
}
