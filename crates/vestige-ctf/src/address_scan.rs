//! The code address and the process of each record of a merge, read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use crate::call_stacks::{CallStacks, Thread};
use crate::function_events::{has_function_events, FunctionEvents};
use crate::model::{FieldKind, StreamClass, TraceClass};
use crate::muxer::{Merge, Run};
use crate::record::{skip, State};
use crate::stream::{Batch, DataStream, Part, Record};

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
    /// No address, but it may change a process image.
    Change,
    /// The address of a function that is entered; only until stacks are settled.
    Enter,
    /// A function is left, which one only the stack tells; only until stacks are settled.
    Leave,
}

impl Kind {
    /// Whether there is an address to resolve.
    #[inline]
    pub fn has_address(self) -> bool {
        matches!(self, Self::Address | Self::State)
    }

    /// Whether the record may change a process image.
    #[inline]
    pub fn changes(self) -> bool {
        matches!(self, Self::State | Self::Change)
    }
}

/// The address of a record and its process.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    /// The address.
    pub ip: u64,
    /// Process ID.
    pub vpid: i64,
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// What the record has; the other members count only if it has something.
    pub kind: Kind,
}

const NOTHING: Found = Found { ip: 0, vpid: 0, space: 0, kind: Kind::Nothing };

/// Where the two fields are in the common context of a stream class.
#[derive(Debug)]
struct Contexts {
    ip: usize,
    vpid: usize,
    /// Whether each event record class changes process images.
    state_classes: Vec<bool>,
}

/// Where the records of a stream class have what a place needs.
#[derive(Debug)]
enum Layout {
    /// All of them in their common context.
    Contexts(Contexts),
    /// Those of function calls elsewhere.
    Functions(FunctionEvents),
}

/// How the records of each batch of a merge are read.
type Layouts = Vec<Option<Arc<Layout>>>;

/// Reads records with `ip` and `vpid` in their common context, or of function calls.
pub struct AddressScan {
    field_name: String,
    state_events: Vec<String>,
    layouts: HashMap<usize, Option<Arc<Layout>>>,
    stacks: CallStacks,
}

impl AddressScan {
    /// See [`crate::places::PlaceColumn::new`].
    pub fn new(field_name: String, state_events: Vec<String>) -> Self {
        let stacks = CallStacks::default();
        Self { field_name, state_events, layouts: HashMap::new(), stacks }
    }

    /// What each record of a merge has, in order.
    pub fn read(&mut self, merge: &Merge) -> Vec<Found> {
        let layouts: Layouts =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let read = |task: Vec<Run>| {
            let mut found = Vec::with_capacity(TASK_RECORDS);
            let mut state = State::new(0);
            let (mut known, mut process) = (None, None);
            for run in task {
                let Some((batch, records)) = merge.run(&run) else { continue };
                let Some(layout) = layouts.get(run.batch as usize).and_then(Option::as_ref) else {
                    found.resize(found.len() + records.len(), NOTHING);
                    continue;
                };
                if known.replace((run.batch, run.part)) != Some((run.batch, run.part)) {
                    let part = batch.part(run.part);
                    state.slots.clone_from(&part.packet.slots);
                    process = layout.process(batch, part);
                }
                layout.read(batch, records, process, &mut state, &mut found);
            }
            found
        };
        let tasks = merge.tasks(TASK_RECORDS);
        let parts: Vec<Vec<Found>> = on_all_cores(|| tasks.into_par_iter().map(read).collect());
        let mut found = parts.concat();
        self.settle_stacks(merge, &layouts, &mut found);
        found
    }

    fn settle_stacks(&mut self, merge: &Merge, layouts: &Layouts, found: &mut [Found]) {
        let uses_stacks = |layout: &Option<Arc<Layout>>| match layout.as_deref() {
            Some(Layout::Functions(functions)) => functions.uses_stacks(),
            _ => false,
        };
        if !layouts.iter().any(uses_stacks) && merge.notices.is_empty() {
            return;
        }
        let mut known = None;
        let thread = |run: &Run| {
            let at = (run.batch, run.part);
            let (_, thread) = known.filter(|(before, _)| *before == at).unwrap_or_else(|| {
                let layout = layouts.get(run.batch as usize).and_then(Option::as_deref);
                (at, layout.and_then(|layout| layout.thread(merge, run)))
            });
            known = Some((at, thread));
            thread
        };
        let threads: Vec<Option<Thread>> = merge.runs.iter().map(thread).collect();
        self.stacks.settle(merge, &threads, found);
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Option<Arc<Layout>> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some(layout) = self.layouts.get(&key) {
            return layout.clone();
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let layout = class.and_then(|class| self.find_layout(&stream.trace, class)).map(Arc::new);
        self.layouts.insert(key, layout.clone());
        layout
    }

    fn find_layout(&self, trace: &TraceClass, class: &StreamClass) -> Option<Layout> {
        let is_state = |name: &str| self.state_events.iter().any(|event| event == name);
        let Some((ip, vpid)) = address_members(class, &self.field_name) else {
            let functions = FunctionEvents::of(trace, class, &self.field_name, is_state)?;
            return Some(Layout::Functions(functions));
        };
        let names = class.event_classes.iter().map(|event| event.name.as_deref());
        let state_classes = names.map(|name| name.is_some_and(is_state)).collect();
        Some(Layout::Contexts(Contexts { ip, vpid, state_classes }))
    }
}

impl Layout {
    /// The process of all records of a part, where the packet or the trace tells.
    fn process(&self, batch: &Batch, part: &Part) -> Option<i64> {
        match self {
            Self::Contexts(_) => None,
            Self::Functions(functions) => functions.process(batch, part),
        }
    }

    /// The thread of the records of a run, when exits depend on it.
    fn thread(&self, merge: &Merge, run: &Run) -> Option<Thread> {
        let Self::Functions(functions) = self else { return None };
        functions.thread(merge.batches.get(run.batch as usize)?, merge.part(run)?)
    }

    fn read(
        &self,
        batch: &Batch,
        records: &[Record],
        process: Option<i64>,
        state: &mut State,
        found: &mut Vec<Found>,
    ) {
        match self {
            Self::Contexts(contexts) => {
                let address = |record| contexts.address(batch, record, state);
                found.extend(records.iter().map(address).map(|one| one.unwrap_or(NOTHING)));
            }
            Self::Functions(functions) => {
                let read = |record| functions.read(batch, record, process, state);
                found.extend(records.iter().map(read).map(|one| one.unwrap_or(NOTHING)));
            }
        }
    }
}

impl Contexts {
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
        Some(Found { ip, vpid, space: batch.stream.identity.process_space, kind })
    }
}

/// Whether any record of a stream class gets a place in a field of a name.
#[must_use]
pub fn has_places(trace: &TraceClass, class: &StreamClass, field_name: &str) -> bool {
    address_members(class, field_name).is_some() || has_function_events(trace, class, field_name)
}

/// Indexes of `ip` and `vpid` in the common context of a stream class, when its records have
/// both and no field of the name that the places would get.
fn address_members(class: &StreamClass, field_name: &str) -> Option<(usize, usize)> {
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
