//! The code address and the process of each record of a merge, read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use crate::model::{FieldKind, StreamClass};
use crate::muxer::{Merge, Run};
use crate::record::{skip, State};
use crate::stream::{Batch, DataStream, Record};

/// About how many records one task reads.
const TASK_RECORDS: usize = 4096;

/// What a record has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No address to resolve.
    Nothing,
    /// An address.
    Address,
    /// An address, and it may change a process image.
    State,
}

/// The address of a record and its process.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The address.
    pub ip: u64,
    /// Process ID.
    pub vpid: i64,
    /// Index of the trace.
    pub trace: u32,
    /// What the record has; the other members count only if it has something.
    pub kind: Kind,
}

const NOTHING: Found = Found { ip: 0, vpid: 0, trace: 0, kind: Kind::Nothing };

/// Where the two fields are in the common context of a stream class.
#[derive(Debug)]
struct Layout {
    ip: usize,
    vpid: usize,
    /// Whether each event record class changes process images.
    state_classes: Vec<bool>,
}

/// Reads records with `ip` and `vpid` in their common context.
pub struct AddressScan {
    field_name: String,
    state_events: Vec<String>,
    layouts: HashMap<usize, Option<Arc<Layout>>>,
}

impl AddressScan {
    /// See [`crate::places::PlaceColumn::new`].
    pub fn new(field_name: String, state_events: Vec<String>) -> Self {
        Self { field_name, state_events, layouts: HashMap::new() }
    }

    /// What each record of a merge has, in order.
    pub fn read(&mut self, merge: &Merge) -> Vec<Found> {
        let layouts: Vec<Option<Arc<Layout>>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let read = |task: Vec<Run>| {
            let mut found = Vec::with_capacity(TASK_RECORDS);
            let mut state = State::new(0);
            let mut state_of = None;
            for run in task {
                let Some((batch, records)) = merge.run(&run) else { continue };
                let layout = layouts.get(run.batch as usize).and_then(Option::as_ref);
                let Some(layout) = layout else {
                    found.resize(found.len() + records.len(), NOTHING);
                    continue;
                };
                if state_of != Some(run.batch) {
                    state.slots.clone_from(&batch.packet.slots);
                    state_of = Some(run.batch);
                }
                let address = |record| layout.address(batch, record, &mut state);
                found.extend(records.iter().map(address).map(|one| one.unwrap_or(NOTHING)));
            }
            found
        };
        let tasks = tasks(merge);
        let parts: Vec<Vec<Found>> = on_all_cores(|| tasks.into_par_iter().map(read).collect());
        parts.concat()
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Option<Arc<Layout>> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some(layout) = self.layouts.get(&key) {
            return layout.clone();
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let layout = class.and_then(|class| self.find_layout(class)).map(Arc::new);
        self.layouts.insert(key, layout.clone());
        layout
    }

    fn find_layout(&self, class: &StreamClass) -> Option<Layout> {
        let (ip, vpid) = address_members(class, &self.field_name)?;
        let is_state = |name: &Option<String>| {
            name.as_ref().is_some_and(|name| self.state_events.contains(name))
        };
        Some(Layout {
            ip,
            vpid,
            state_classes: class.event_classes.iter().map(|event| is_state(&event.name)).collect(),
        })
    }
}

impl Layout {
    #[inline]
    fn address(&self, batch: &Batch, record: &Record, state: &mut State) -> Option<Found> {
        let scope = batch.stream_class()?.event_context.as_ref()?;
        let mut reader = batch.body_reader(record, state);
        reader.align(scope.alignment()).ok()?;
        let (mut ip, mut vpid) = (0, 0);
        let last = self.ip.max(self.vpid);
        for (index, member) in scope.members().iter().enumerate().take(last + 1) {
            if index == self.ip {
                ip = state.integer(member.class.as_integer()?, &mut reader).ok()?;
            } else if index == self.vpid {
                vpid = state.integer(member.class.as_integer()?, &mut reader).ok()? as i64;
            } else {
                skip(&member.class, &mut reader, state).ok()?;
            }
        }
        let changes = self.state_classes.get(record.class as usize).copied().unwrap_or(false);
        let kind = if changes { Kind::State } else { Kind::Address };
        Some(Found { ip, vpid, trace: batch.stream.identity.index as u32, kind })
    }
}

/// Splits the runs of a merge into parts of about as many records.
fn tasks(merge: &Merge) -> Vec<Vec<Run>> {
    let mut tasks = Vec::new();
    let mut task = Vec::new();
    let mut room = TASK_RECORDS;
    for run in &merge.runs {
        let mut start = run.start;
        while start < run.end {
            let count = ((run.end - start) as usize).min(room);
            let end = start + count as u32;
            task.push(Run { start, end, ..*run });
            start = end;
            room -= count;
            if room == 0 {
                tasks.push(std::mem::take(&mut task));
                room = TASK_RECORDS;
            }
        }
    }
    tasks.push(task);
    tasks
}

/// Indexes of `ip` and `vpid` in the common context of a stream class, when its records have
/// both and no field of the name that the places would get.
#[must_use]
pub fn address_members(class: &StreamClass, field_name: &str) -> Option<(usize, usize)> {
    let scope = class.event_context.as_ref()?;
    let integer = |name: &str, signed: Option<bool>| {
        let (index, class) = scope.member(name)?;
        let FieldKind::Integer(integer) = &class.kind else { return None };
        signed.is_none_or(|signed| integer.signed == signed).then_some(index)
    };
    if scope.members().iter().any(|member| member.name() == field_name) {
        return None;
    }
    Some((integer("ip", Some(false))?, integer("vpid", None)?))
}
