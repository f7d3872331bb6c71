//! What each record of a merge tells of calls, read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use super::codes::{CodeLayout, Told};
use crate::bits::BitReader;
use crate::function_events::environment_vpid;
use crate::model::{EventClass, FieldClass, FieldKind, StreamClass};
use crate::muxer::{Merge, Run};
use crate::record::{skip, State};
use crate::stream::{Batch, DataStream, Part, Record};

/// About how many records one task reads.
const TASK_RECORDS: usize = 4096;

/// The names of the event record classes that matter.
#[derive(Debug, Clone, Default)]
pub struct CallEvents {
    /// Entries of functions.
    pub entries: Vec<String>,
    /// Exits of functions.
    pub exits: Vec<String>,
    /// What may change a process image.
    pub states: Vec<String>,
    /// What tells of a function of an interpreter.
    pub codes: Vec<String>,
}

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that matters here.
    Nothing,
    /// A function is entered.
    Entry,
    /// A function is entered, and the record's `ip` is another address.
    EntryElsewhere,
    /// A function is left; which one is not told.
    Exit,
    /// The function at the record's `ip` is left.
    ExitOfIp,
    /// The function at an address is left, called from some place.
    ExitOfCall,
    /// A process image may change.
    State,
    /// A code object has addresses: from `address` on, as many as `site` says.
    Code,
}

/// What a record tells.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Nanoseconds from the origin.
    pub time: i64,
    /// Address of the function.
    pub address: u64,
    /// Where it was called, 0 if not told.
    pub site: u64,
    /// Process ID.
    pub vpid: i32,
    /// Thread ID.
    pub vtid: i32,
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: u32,
    /// Number of the data stream, when each thread has one of its own.
    pub stream: u32,
    /// What the record is.
    pub kind: Kind,
    /// Whether the thread may be any of several.
    pub is_ambiguous: bool,
    /// Whether the record is wanted for itself.
    pub choice: Choice,
}

/// Whether a record is wanted for itself, and if not, why it is here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// It is wanted.
    Shown,
    /// Its class or the expressions leave it out.
    LeftOut,
    /// A filter hides it, and nothing else leaves it out.
    Hidden,
    /// It is outside the range of time, and does not count.
    Outside,
}

/// The number of no data stream.
pub const NO_STREAM: u32 = u32::MAX;

const NOTHING: Seen = Seen {
    time: 0,
    address: 0,
    site: 0,
    vpid: -1,
    vtid: -1,
    space: 0,
    stream: NO_STREAM,
    kind: Kind::Nothing,
    is_ambiguous: false,
    choice: Choice::Shown,
};

/// What an event record class is, and where its addresses are in the payload.
#[derive(Debug, Clone, Copy)]
struct ClassLayout {
    kind: Kind,
    address: Option<usize>,
    site: Option<usize>,
    code: Option<CodeLayout>,
}

/// Where fields are in the records of a data stream.
#[derive(Debug)]
pub struct Layout {
    /// Number of the data stream.
    number: u32,
    /// Process ID, when all of the trace is of one process.
    process: i32,
    packet_vpid: Option<usize>,
    packet_vtid: Option<usize>,
    ip: Option<usize>,
    vpid: Option<usize>,
    vtid: Option<usize>,
    /// The last of these in the common context.
    last: Option<usize>,
    /// Whether threads share the data stream and nothing tells them apart.
    is_ambiguous: bool,
    classes: Vec<ClassLayout>,
}

/// What all records of a packet share.
#[derive(Clone, Copy)]
struct Shared<'a> {
    layout: &'a Layout,
    base: Seen,
}

/// Reads records.
pub struct CallScan {
    events: CallEvents,
    /// By the address of the data stream, which the entry keeps alive.
    layouts: HashMap<usize, (Arc<DataStream>, Arc<Layout>)>,
}

impl CallScan {
    /// A scan for records of some names.
    pub fn new(events: CallEvents) -> Self {
        Self { events, layouts: HashMap::new() }
    }

    /// What each record of a merge tells, in order, and what more those of [`Kind::Code`] do.
    /// Records that only a filter needs have their mark where expressions choose records, and
    /// with `is_filtered`.
    pub fn read(&mut self, merge: &Merge, is_filtered: bool) -> (Vec<Seen>, Vec<Told>) {
        let layouts: Vec<Arc<Layout>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let read = |task: Vec<Run>| {
            let mut seen = Vec::with_capacity(TASK_RECORDS);
            let mut told = Vec::new();
            let mut state = State::new(0);
            let mut known = None;
            for run in task {
                let Some((batch, records)) = merge.run(&run) else { continue };
                let Some(layout) = layouts.get(run.batch as usize) else { continue };
                let at = (run.batch, run.part);
                let (_, shared) = known.filter(|(before, _)| *before == at).unwrap_or_else(|| {
                    let part = batch.part(run.part);
                    state.slots.clone_from(&part.packet.slots);
                    (at, layout.shared(batch, part))
                });
                known = Some((at, shared));
                let first = seen.len();
                let one = |record| shared.read(batch, record, &mut state, &mut told);
                seen.extend(records.iter().map(one));
                if is_filtered || batch.is_marked() {
                    for (one, record) in seen.iter_mut().skip(first).zip(records) {
                        one.choice = choice(batch, record);
                    }
                }
            }
            (seen, told)
        };
        let tasks = merge.tasks(TASK_RECORDS);
        let parts: Vec<(Vec<Seen>, Vec<Told>)> =
            on_all_cores(|| tasks.into_par_iter().map(read).collect());
        let (seen, told): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        (seen.concat(), told.into_iter().flatten().collect())
    }

    /// For each record of a merge, in order, whether it is an entry or an exit.
    pub fn calls(&mut self, merge: &Merge) -> Vec<bool> {
        let layouts: Vec<Arc<Layout>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        let mut found = Vec::with_capacity(merge.records);
        for run in &merge.runs {
            let Some((_, records)) = merge.run(run) else { continue };
            let Some(layout) = layouts.get(run.batch as usize) else { continue };
            found.extend(records.iter().map(|record| layout.is_call(record)));
        }
        found
    }

    /// Where fields are in a data stream.
    pub fn layout(&mut self, stream: &Arc<DataStream>) -> Arc<Layout> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some((_, layout)) = self.layouts.get(&key) {
            return Arc::clone(layout);
        }
        let number = u32::try_from(self.layouts.len()).unwrap_or(NO_STREAM - 1);
        let class = stream.trace.stream_classes.get(stream.class);
        let process = environment_vpid(&stream.trace).map_or(-1, |vpid| vpid as i32);
        let layout = Arc::new(self.find_layout(class, number, process));
        self.layouts.insert(key, (Arc::clone(stream), Arc::clone(&layout)));
        layout
    }

    fn find_layout(&self, class: Option<&StreamClass>, number: u32, process: i32) -> Layout {
        let packet = class.and_then(|class| class.packet_context.as_ref());
        let context = class.and_then(|class| class.event_context.as_ref());
        let [ip, vpid, vtid] = ["ip", "vpid", "vtid"].map(|name| integer(context, name));
        let classes = class.map_or(&[][..], |class| &class.event_classes);
        Layout {
            number,
            process,
            packet_vpid: integer(packet, "vpid"),
            packet_vtid: integer(packet, "vtid"),
            ip,
            vpid,
            vtid,
            last: ip.max(vpid).max(vtid),
            is_ambiguous: vtid.is_none()
                && integer(packet, "vtid").is_none()
                && integer(packet, "cpu_id").is_some(),
            classes: classes.iter().map(|event| self.class_layout(event, ip.is_some())).collect(),
        }
    }

    fn class_layout(&self, event: &EventClass, has_ip: bool) -> ClassLayout {
        let is_in = |names: &[String]| event.name.as_ref().is_some_and(|one| names.contains(one));
        let payload = event.payload.as_ref();
        if is_in(&self.events.codes) {
            let code = CodeLayout::of(payload);
            let kind = code.map_or(Kind::Nothing, |_| Kind::Code);
            let (address, site) = (code.map(|code| code.base), code.map(|code| code.size));
            return ClassLayout { kind, address, site, code };
        }
        // lttng-ust-cyg-profile(3) calls it func_addr, the tracer writes addr.
        let address = integer(payload, "addr").or_else(|| integer(payload, "func_addr"));
        let site = integer(payload, "call_site");
        let kind = if is_in(&self.events.entries) && (address.is_some() || has_ip) {
            Kind::Entry
        } else if is_in(&self.events.exits) {
            match (address, site) {
                (Some(_), _) => Kind::ExitOfCall,
                _ if has_ip => Kind::ExitOfIp,
                _ => Kind::Exit,
            }
        } else if is_in(&self.events.states) {
            Kind::State
        } else {
            Kind::Nothing
        };
        ClassLayout { kind, address, site, code: None }
    }
}

fn choice(batch: &Batch, record: &Record) -> Choice {
    if batch.shows(record) {
        Choice::Shown
    } else if batch.selection.is_in_time(&batch.stream, record) {
        Choice::LeftOut
    } else {
        Choice::Outside
    }
}

/// Index of a member that is an integer.
fn integer(scope: Option<&FieldClass>, name: &str) -> Option<usize> {
    let (index, class) = scope?.member(name)?;
    matches!(class.kind, FieldKind::Integer(_)).then_some(index)
}

impl Layout {
    /// The number of the data stream when each thread has one of its own.
    pub fn thread_stream(&self) -> Option<u32> {
        let own = self.packet_vtid.is_some() || self.vtid.is_none();
        own.then_some(self.number)
    }

    fn is_call(&self, record: &Record) -> bool {
        self.classes
            .get(record.class as usize)
            .is_some_and(|class| !matches!(class.kind, Kind::Nothing | Kind::State | Kind::Code))
    }

    /// What the packet of a part of a batch tells.
    fn shared(&self, batch: &Batch, part: &Part) -> Shared<'_> {
        let mut base = NOTHING;
        base.space = batch.stream.identity.process_space;
        base.vpid = self.process;
        base.is_ambiguous = self.is_ambiguous;
        base.stream = self.thread_stream().unwrap_or(NO_STREAM);
        let context = batch.stream_class().and_then(|class| class.packet_context.as_ref());
        if let (Some(context), Some(last)) = (context, self.packet_vpid.max(self.packet_vtid)) {
            let (mut reader, mut state) = (part.context_reader(), part.state());
            // The packet was read before, so this cannot fail now.
            let _ = members(context, last, &mut reader, &mut state, |index, value| {
                if Some(index) == self.packet_vpid {
                    base.vpid = value as i32;
                }
                if Some(index) == self.packet_vtid {
                    base.vtid = value as i32;
                }
            });
        }
        Shared { layout: self, base }
    }
}

impl Shared<'_> {
    #[inline]
    fn read(
        &self,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        told: &mut Vec<Told>,
    ) -> Seen {
        let Some(class) = self.layout.classes.get(record.class as usize) else { return self.base };
        if class.kind == Kind::Nothing {
            return self.base;
        }
        let seen = self.fields(class, batch, record, state).unwrap_or(self.base);
        if seen.kind == Kind::Code {
            let Some(code) = class.code.and_then(|code| code.read(batch, record, state)) else {
                return self.base;
            };
            told.push(code);
        }
        seen
    }

    #[inline]
    fn fields(
        &self,
        class: &ClassLayout,
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> Option<Seen> {
        let layout = self.layout;
        let mut seen = self.base;
        seen.kind = class.kind;
        seen.time = batch.nanoseconds(record);
        let mut reader = batch.body_reader(record, state);
        let [context, specific, payload] = batch.body_scopes(record);
        let mut ip = None;
        let wanted = class.address.max(class.site);
        if let Some(context) = context {
            // All of it, when the payload is wanted too.
            let whole = context.members().len().saturating_sub(1);
            let last = if wanted.is_some() { Some(whole) } else { layout.last };
            if let Some(last) = last {
                members(context, last, &mut reader, state, |index, value| {
                    if Some(index) == layout.ip {
                        ip = Some(value);
                    } else if Some(index) == layout.vpid {
                        seen.vpid = value as i32;
                    } else if Some(index) == layout.vtid && layout.packet_vtid.is_none() {
                        seen.vtid = value as i32;
                    }
                })?;
            }
        }
        if let (Some(last), Some(payload)) = (wanted, payload) {
            if let Some(specific) = specific {
                skip(specific, &mut reader, state).ok()?;
            }
            members(payload, last, &mut reader, state, |index, value| {
                if Some(index) == class.address {
                    seen.address = value;
                }
                if Some(index) == class.site {
                    seen.site = value;
                }
            })?;
        }
        match (class.address, ip) {
            (None, Some(ip)) => seen.address = ip,
            (Some(_), Some(ip)) if seen.kind == Kind::Entry && ip != seen.address => {
                seen.kind = Kind::EntryElsewhere;
            }
            _ => {}
        }
        Some(seen)
    }
}

/// Gives the integers among the first members of a structure, up to the index `last`.
#[inline]
fn members(
    scope: &FieldClass,
    last: usize,
    reader: &mut BitReader<'_>,
    state: &mut State,
    mut take: impl FnMut(usize, u64),
) -> Option<()> {
    reader.align(scope.alignment()).ok()?;
    for (index, member) in scope.members().iter().enumerate().take(last + 1) {
        match &member.class.kind {
            FieldKind::Integer(class) => take(index, state.integer(class, reader).ok()?),
            _ => skip(&member.class, reader, state).ok()?,
        }
    }
    Some(())
}
