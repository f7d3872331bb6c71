//! Counting the event records of merges by class and thread, and matching those of pairs.

use std::collections::HashMap;
use std::sync::Arc;

use super::count::EventCount;
use super::pairs::{PairSpec, Pairs};
use super::scan::{Layout, Slot, SwitchSpec, Task};
use super::who::Who;
use crate::muxer::{Merge, Notice};
use crate::places::scan::read_records;
use crate::stream::DataStream;

/// How many pairs of a class and a thread are told apart.
const MOST_ROWS: usize = 1 << 18;
/// How many threads have names.
const MOST_NAMES: usize = 1 << 16;

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

/// Counts event records by name and thread, and matches those of pairs.
pub struct EventTable {
    names: Vec<Option<String>>,
    indexes: HashMap<Option<String>, usize>,
    layouts: HashMap<u64, Arc<Layout>>,
    totals: Vec<EventCount>,
    rows: HashMap<(usize, Who), EventCount>,
    process_names: HashMap<Who, String>,
    left_out: u64,
    pairs: Pairs,
    switch: Option<SwitchSpec>,
}

impl EventTable {
    /// A table that keeps so many of the longest of each pair; `switch` are the records that say
    /// which thread runs on their CPU from then on.
    #[must_use]
    pub fn new(pairs: Vec<PairSpec>, longest: usize, switch: Option<SwitchSpec>) -> Self {
        Self {
            names: Vec::new(),
            indexes: HashMap::new(),
            layouts: HashMap::new(),
            totals: Vec::new(),
            rows: HashMap::new(),
            process_names: HashMap::new(),
            left_out: 0,
            pairs: Pairs::new(pairs, longest),
            switch,
        }
    }

    /// Takes the event records of a merge.
    pub fn add(&mut self, merge: &Merge) {
        let layouts: Vec<Arc<Layout>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let mut losses = losses(merge).into_iter().peekable();
        let mut before = 0;
        for task in read_records::<Task>(merge, &layouts) {
            for slot in task.slots {
                self.take(slot);
            }
            for (index, seen) in task.seen {
                while let Some((_, stream, space)) =
                    losses.next_if(|(position, ..)| *position <= before + index as usize)
                {
                    self.pairs.lose(stream, space);
                }
                self.pairs.take(seen);
            }
            before += task.records as usize;
        }
        for (_, stream, space) in losses {
            self.pairs.lose(stream, space);
        }
    }

    /// Ends the reading.
    pub fn finish(&mut self) {
        self.pairs.finish();
    }

    fn take(&mut self, slot: Slot) {
        if let Some(name) = slot.name {
            if self.process_names.len() < MOST_NAMES {
                self.process_names.insert(slot.who, name);
            }
        }
        for (name, count) in slot.layout.names().zip(&slot.counts) {
            if count.records == 0 {
                continue;
            }
            if let Some(total) = self.totals.get_mut(name) {
                total.join(count);
            }
            let has_room = self.rows.len() < MOST_ROWS;
            match self.rows.get_mut(&(name, slot.who)) {
                Some(known) => known.join(count),
                None if has_room => {
                    self.rows.insert((name, slot.who), *count);
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
        let names: Vec<usize> =
            classes.iter().map(|class| self.name(class.name.as_ref())).collect();
        let layout = Layout::of(stream, &names, self.pairs.specs(), self.switch.as_ref());
        let layout = Arc::new(layout);
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

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &Pairs {
        &self.pairs
    }
}

/// Where records were lost: before which record of the merge, in which data stream, and its
/// process space.
fn losses(merge: &Merge) -> Vec<(usize, u64, u32)> {
    if merge.notices.is_empty() {
        return Vec::new();
    }
    let mut starts = Vec::with_capacity(merge.runs.len());
    let mut end = 0;
    for run in &merge.runs {
        starts.push(end);
        end += (run.end - run.start) as usize;
    }
    let is_loss = |notice: &Notice| matches!(notice, Notice::Lost(_) | Notice::Damage(..));
    let place = |(rank, run, notice): &(usize, usize, Notice)| {
        let stream = merge.streams.get(*rank).filter(|_| is_loss(notice))?;
        let position = starts.get(*run).copied().unwrap_or(end);
        Some((position, stream.origin(), stream.identity.process_space))
    };
    merge.notices.iter().filter_map(place).collect()
}
