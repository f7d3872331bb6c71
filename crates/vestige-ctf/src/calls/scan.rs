//! What each record of a merge tells of calls, read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use super::codes::{CodeLayout, Told};
use super::machines::{is_of_kernel, Machines};
use super::process::ThreadKey;
use crate::model::{EventClass, FieldClass, TraceClass};
use crate::muxer::Merge;
use crate::places::origin::{integer, numbers, Known, Origin, Source};
use crate::places::scan::{read_records, RecordTask, TASK_RECORDS};
use crate::record::{skip, State};
use crate::stream::{Batch, DataStream, Part, Record};

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
    /// Whether it tells more than of which call it is.
    pub tells_more: bool,
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
    /// It is before the range of time, and would be wanted otherwise: what it enters may
    /// still be open in the range.
    Before,
    /// It is before the range of time, and would not be wanted in it either.
    BeforeLeftOut,
    /// It is outside the range of time, and does not count.
    Outside,
}

impl Choice {
    /// Whether a call that begins with the record is in the tree.
    pub fn is_wanted(self) -> bool {
        matches!(self, Self::Shown | Self::Before)
    }

    /// Whether the record is before the range of time.
    pub fn is_before(self) -> bool {
        matches!(self, Self::Before | Self::BeforeLeftOut)
    }
}

/// How many parts of data streams are known before it is seen which of them are needed.
const MANY_LAYOUTS: usize = 1024;

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
    tells_more: false,
    choice: Choice::Shown,
};

/// What fields are called that tell of which call a record is, and of which thread.
const OF_CALL: [&str; 9] =
    ["addr", "func_addr", "call_site", "ip", "vpid", "vtid", "pid", "tid", "procname"];

/// What an event record class is, and where its addresses are in the payload.
#[derive(Debug, Clone, Copy)]
struct ClassLayout {
    kind: Kind,
    address: Option<usize>,
    site: Option<usize>,
    code: Option<CodeLayout>,
    /// Whether there is more than tells of which call a record is.
    tells_more: bool,
}

impl ClassLayout {
    fn is_call(&self) -> bool {
        !matches!(self.kind, Kind::Nothing | Kind::State | Kind::Code)
    }
}

/// Where fields are in the records of a data stream.
#[derive(Debug)]
pub struct Layout {
    /// Number of the data stream.
    number: u32,
    origin: Option<Origin>,
    /// Whether threads share the data stream and nothing tells them apart.
    is_ambiguous: bool,
    /// Whether records that are nothing tell their thread, which the packet does not.
    tells_all: bool,
    classes: Vec<ClassLayout>,
}

/// What all records of a packet share.
#[derive(Clone, Copy)]
pub struct Shared {
    /// What a record tells that has nothing of its own.
    pub base: Seen,
    known: Known,
}

/// Reads records.
#[derive(Clone)]
pub struct CallScan {
    events: CallEvents,
    /// Whether threads are told of records that are nothing else, too.
    tells_all: bool,
    /// By the address of the data stream, which the entry keeps alive.
    layouts: HashMap<usize, (Arc<DataStream>, Arc<Layout>)>,
    /// With so many of them it is seen which are needed still.
    room: usize,
    /// Numbers of data streams: parts of one that grows have the same.
    numbers: HashMap<u64, u32>,
    /// Those of data streams, if threads are told of a kernel's records.
    pub machines: Option<Machines>,
}

impl CallScan {
    /// A scan for records of some names.
    pub fn new(events: CallEvents, tells_all: bool) -> Self {
        Self {
            events,
            tells_all,
            layouts: HashMap::new(),
            room: MANY_LAYOUTS,
            numbers: HashMap::new(),
            machines: None,
        }
    }

    /// Tells the threads of all records from now on. To be told before the first merge.
    pub fn tell_all(&mut self) {
        self.tells_all = true;
    }

    /// What each record of a merge tells, in order, and what more those of [`Kind::Code`] do.
    /// Records that only a filter needs have their mark where expressions choose records, and
    /// with `is_filtered`.
    pub fn read(&mut self, merge: &Merge, is_filtered: bool) -> (Vec<Seen>, Vec<Told>) {
        let layout = |batch: &Arc<Batch>| (self.layout(&batch.stream), is_filtered);
        let layouts: Vec<TaskLayout> = merge.batches.iter().map(layout).collect();
        let (mut seen, mut told) = (Vec::with_capacity(merge.records), Vec::new());
        for part in read_records::<CallTask>(merge, &layouts) {
            seen.extend(part.seen);
            told.extend(part.told);
        }
        (seen, told)
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
        let next = u32::try_from(self.numbers.len()).unwrap_or(NO_STREAM - 1);
        let number = *self.numbers.entry(stream.origin()).or_insert(next);
        if let Some(machines) = &mut self.machines {
            machines.add(stream);
        }
        let layout = Arc::new(self.find_layout(&stream.trace, stream.class, number));
        self.forget_ended();
        self.layouts.insert(key, (Arc::clone(stream), Arc::clone(&layout)));
        layout
    }

    /// Lets go of parts of data streams that nobody reads any more: one that grows has ever new
    /// ones, each with its file.
    fn forget_ended(&mut self) {
        if self.layouts.len() < self.room {
            return;
        }
        self.layouts.retain(|_, (stream, _)| Arc::strong_count(stream) > 1);
        self.room = MANY_LAYOUTS.max(2 * self.layouts.len());
    }

    fn find_layout(&self, trace: &TraceClass, class: usize, number: u32) -> Layout {
        let class = trace.stream_classes.get(class);
        let origin = class.map(|class| match self.machines.is_some() && is_of_kernel(trace) {
            true => Origin::of_kernel(trace, class),
            false => Origin::of(trace, class),
        });
        let has_ip = origin.is_some_and(|origin| origin.ip.is_some());
        let packet = class.and_then(|class| class.packet_context.as_ref());
        let context = class.and_then(|class| class.event_context.clone());
        let classes = class.map_or(&[][..], |class| &class.event_classes);
        Layout {
            number,
            origin,
            is_ambiguous: origin.is_some_and(|origin| origin.thread.is_none())
                && integer(packet, "cpu_id").is_some(),
            tells_all: self.tells_all
                && matches!(origin.and_then(|one| one.thread), Some(Source::Context(_))),
            classes: classes
                .iter()
                .map(|event| ClassLayout {
                    tells_more: tells_more([&context, &event.context, &event.payload]),
                    ..self.class_layout(event, has_ip)
                })
                .collect(),
        }
    }

    fn class_layout(&self, event: &EventClass, has_ip: bool) -> ClassLayout {
        let is_in = |names: &[String]| event.name.as_ref().is_some_and(|one| names.contains(one));
        let payload = event.payload.as_ref();
        if is_in(&self.events.codes) {
            let code = CodeLayout::of(payload);
            let kind = code.map_or(Kind::Nothing, |_| Kind::Code);
            let (address, site) = (code.map(|code| code.base), code.map(|code| code.size));
            return ClassLayout { kind, address, site, code, tells_more: true };
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
        ClassLayout { kind, address, site, code: None, tells_more: true }
    }
}

fn tells_more(scopes: [&Option<FieldClass>; 3]) -> bool {
    let mut members = scopes.into_iter().flatten().flat_map(FieldClass::members);
    members.any(|member| !OF_CALL.contains(&member.name()))
}

fn choice(batch: &Batch, record: &Record) -> Choice {
    if batch.shows(record) {
        Choice::Shown
    } else if batch.selection.is_in_time(&batch.stream, record) {
        Choice::LeftOut
    } else if !batch.selection.is_before(&batch.stream, record) {
        Choice::Outside
    } else if record.passes && batch.selection.wants_class(record.class as usize) {
        Choice::Before
    } else {
        Choice::BeforeLeftOut
    }
}

impl Layout {
    /// The number of the data stream when each thread has one of its own.
    pub fn thread_stream(&self) -> Option<u32> {
        let thread = self.origin.and_then(|origin| origin.thread);
        (!matches!(thread, Some(Source::Context(_)))).then_some(self.number)
    }

    fn is_call(&self, record: &Record) -> bool {
        self.classes.get(record.class as usize).is_some_and(ClassLayout::is_call)
    }

    /// For each event record class, whether its records are entries or exits.
    pub fn call_classes(&self) -> Vec<bool> {
        self.classes.iter().map(ClassLayout::is_call).collect()
    }

    /// What the records of a class are, and where their addresses are in the payload.
    pub fn class(&self, index: usize) -> Option<(Kind, [Option<usize>; 2])> {
        self.classes.get(index).map(|class| (class.kind, [class.address, class.site]))
    }

    /// What the packet of a part of a batch tells.
    pub fn shared(&self, batch: &Batch, part: &Part) -> Shared {
        let mut base = NOTHING;
        base.space = batch.stream.identity.process_space;
        base.is_ambiguous = self.is_ambiguous;
        base.stream = self.thread_stream().unwrap_or(NO_STREAM);
        let known = self.origin.map_or_else(Known::default, |one| one.of_packet(batch, part));
        base.tell(known);
        Shared { base, known }
    }
}

impl Seen {
    /// What tells its thread apart.
    #[inline]
    pub fn thread_key(&self) -> ThreadKey {
        (self.stream, self.space, self.vpid, self.vtid)
    }

    /// Takes over who made the record, as far as it is known.
    #[inline]
    fn tell(&mut self, known: Known) {
        self.vpid = known.process.map_or(self.vpid, |vpid| vpid as i32);
        self.vtid = known.thread.map_or(self.vtid, |vtid| vtid as i32);
    }
}

/// What the records of a task tell.
struct CallTask {
    seen: Vec<Seen>,
    told: Vec<Told>,
}

impl Default for CallTask {
    fn default() -> Self {
        Self { seen: Vec::with_capacity(TASK_RECORDS), told: Vec::new() }
    }
}

/// Where fields are in a batch, and whether a filter hides some of its records.
type TaskLayout = (Arc<Layout>, bool);

impl RecordTask for CallTask {
    type Layout = TaskLayout;
    type Packet = Shared;

    fn packet((layout, _): &TaskLayout, batch: &Batch, part: &Part) -> Shared {
        layout.shared(batch, part)
    }

    fn run(
        &mut self,
        (layout, is_filtered): &TaskLayout,
        packet: &Shared,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let Self { seen, told } = self;
        let first = seen.len();
        let one = |record| packet.read(layout, batch, record, state, told);
        seen.extend(records.iter().map(one));
        if *is_filtered || batch.is_marked() || batch.has_earlier() {
            for (one, record) in seen.iter_mut().skip(first).zip(records) {
                one.choice = choice(batch, record);
            }
        }
    }
}

impl Shared {
    /// What a record tells; a record of code tells more.
    #[inline]
    pub fn read(
        &self,
        layout: &Layout,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        told: &mut Vec<Told>,
    ) -> Seen {
        let base = Seen { time: batch.nanoseconds(record), ..self.base };
        let Some(class) = layout.classes.get(record.class as usize) else { return base };
        if class.kind == Kind::Nothing && !layout.tells_all {
            return base;
        }
        let seen = self.fields((layout, class), batch, record, state).unwrap_or(base);
        if seen.kind == Kind::Code {
            let Some(code) = class.code.and_then(|code| code.read(batch, record, state)) else {
                return base;
            };
            told.push(code);
        }
        seen
    }

    #[inline]
    fn fields(
        &self,
        (layout, class): (&Layout, &ClassLayout),
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> Option<Seen> {
        let mut seen = self.base;
        seen.kind = class.kind;
        seen.tells_more = class.tells_more;
        seen.time = batch.nanoseconds(record);
        let mut reader = batch.body_reader(record, state);
        let [context, specific, payload] = batch.body_scopes(record);
        let mut ip = None;
        let wanted = class.address.max(class.site);
        if let (Some(context), Some(origin)) = (context, layout.origin) {
            // All of it, when the payload is wanted too.
            let whole = wanted.is_some();
            let known = origin.of_record(self.known, context, whole, &mut reader, state)?;
            ip = known.ip;
            seen.tell(known);
        }
        if let (Some(last), Some(payload)) = (wanted, payload) {
            if let Some(specific) = specific {
                skip(specific, &mut reader, state).ok()?;
            }
            let wanted = [class.address, class.site];
            let [address, site] = numbers(payload, wanted, last, &mut reader, state)?;
            seen.address = address.unwrap_or(0);
            seen.site = site.unwrap_or(0);
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
