//! Reading the origins of the records of a merge, on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use super::found::{Found, Thread, NOTHING};
use super::kinds::Kinds;
use super::origin::Known;
use super::stacks::CallStacks;
use crate::muxer::{Merge, Run};
use crate::record::State;
use crate::stream::{Batch, DataStream, Part, Record};

/// About how many records one task reads.
pub const TASK_RECORDS: usize = 4096;

/// What one task makes of its records, and what is known of the packet that they are of.
pub trait RecordTask: Default + Send {
    /// How the records of a batch are read.
    type Layout: Sync;
    /// What is known of a packet.
    type Packet;

    /// What is known of a packet.
    fn packet(layout: &Self::Layout, batch: &Batch, part: &Part) -> Self::Packet;

    /// Takes the records of a run.
    fn run(
        &mut self,
        layout: &Self::Layout,
        packet: &Self::Packet,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    );
}

/// Goes through all records of a merge, in tasks that run on all cores; `layouts` are those of
/// its batches. What tasks made comes in the order of the records.
pub fn read_records<T: RecordTask>(merge: &Merge, layouts: &[T::Layout]) -> Vec<T> {
    let read = |runs: Vec<Run>| {
        let mut task = T::default();
        let mut state = State::new(0);
        let mut known = None;
        for run in runs {
            let Some((batch, records)) = merge.run(&run) else { continue };
            let Some(layout) = layouts.get(run.batch as usize) else { continue };
            let at = (run.batch, run.part);
            let packet = match known.take() {
                Some((before, packet)) if before == at => packet,
                _ => {
                    let part = batch.part(run.part);
                    state.slots.clone_from(&part.packet.slots);
                    T::packet(layout, batch, part)
                }
            };
            task.run(layout, &packet, batch, records, &mut state);
            known = Some((at, packet));
        }
        task
    };
    let tasks = merge.tasks(TASK_RECORDS);
    on_all_cores(|| tasks.into_par_iter().map(read).collect())
}

/// How the records of a batch of a merge are read; `None` when they have no places.
type Layout = Option<Arc<Kinds>>;

/// Finds the addresses of records, and their processes.
pub struct AddressScan {
    field_name: String,
    state_events: Vec<String>,
    /// By the address of the data stream.
    layouts: HashMap<u64, Layout>,
    stacks: CallStacks,
}

impl AddressScan {
    /// See [`super::PlaceColumn::new`].
    pub fn new(field_name: String, state_events: Vec<String>) -> Self {
        let stacks = CallStacks::default();
        Self { field_name, state_events, layouts: HashMap::new(), stacks }
    }

    /// What each record of a merge has, in order.
    pub fn read(&mut self, merge: &Merge) -> Vec<Found> {
        let layouts: Vec<Layout> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let parts: Vec<Addresses> = read_records(merge, &layouts);
        let mut found = Vec::with_capacity(merge.records);
        for Addresses(part) in parts {
            found.extend(part);
        }
        self.settle_stacks(merge, &layouts, &mut found);
        found
    }

    fn settle_stacks(&mut self, merge: &Merge, layouts: &[Layout], found: &mut [Found]) {
        let uses_stacks =
            |layout: &Layout| layout.as_ref().is_some_and(|kinds| kinds.uses_stacks());
        if !layouts.iter().any(uses_stacks) && merge.notices.is_empty() {
            return;
        }
        let mut known = None;
        let thread = |run: &Run| {
            let at = (run.batch, run.part);
            let (_, thread) = known.filter(|(before, _)| *before == at).unwrap_or_else(|| {
                let kinds = layouts.get(run.batch as usize).and_then(Option::as_deref);
                let batch = merge.batches.get(run.batch as usize);
                let of_part = |kinds: &Kinds| kinds.thread(batch?, merge.part(run)?);
                (at, kinds.and_then(of_part))
            });
            known = Some((at, thread));
            thread
        };
        let threads: Vec<Option<Thread>> = merge.runs.iter().map(thread).collect();
        self.stacks.settle(merge, &threads, found);
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Layout {
        let key = stream.classes();
        if let Some(layout) = self.layouts.get(&key) {
            return layout.clone();
        }
        let is_state = |name: &str| self.state_events.iter().any(|event| event == name);
        let class = stream.trace.stream_classes.get(stream.class);
        let kinds = |class| Kinds::of(&stream.trace, class, &self.field_name, is_state);
        let layout = class.and_then(kinds).map(Arc::new);
        self.layouts.insert(key, layout.clone());
        layout
    }
}

/// What the records of a task have.
struct Addresses(Vec<Found>);

impl Default for Addresses {
    fn default() -> Self {
        Self(Vec::with_capacity(TASK_RECORDS))
    }
}

impl RecordTask for Addresses {
    type Layout = Layout;
    type Packet = Known;

    fn packet(layout: &Layout, batch: &Batch, part: &Part) -> Known {
        layout.as_ref().map_or_else(Known::default, |kinds| kinds.of_packet(batch, part))
    }

    fn run(
        &mut self,
        layout: &Layout,
        packet: &Known,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let Some(kinds) = layout else {
            self.0.resize(self.0.len() + records.len(), NOTHING);
            return;
        };
        let read = |record| kinds.read(batch, record, *packet, state).unwrap_or(NOTHING);
        self.0.extend(records.iter().map(read));
    }
}
