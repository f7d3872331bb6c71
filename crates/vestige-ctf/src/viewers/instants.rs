//! Events that are no calls, as instants with arguments; encoded on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use super::arguments::{safe, Argument, Arguments};
use super::protobuf::{message, push_bytes, push_fixed, push_number};
use super::spans::{SpanMark, SpanName};
use crate::calls::{CallFold, ThreadKey};
use crate::model::{EventClass, FieldClass};
use crate::muxer::Merge;
use crate::places::origin::{integer, Origin};
use crate::places::scan::{read_records, RecordTask};
use crate::record::{build, build_member, State};
use crate::stream::{used_classes, Batch, DataStream, Part, Record};

// Fields of TrackEvent.
const ARGUMENTS: u32 = 4;
const TYPE: u32 = 9;
const NAME_ID: u32 = 10;
const FLOWS: u32 = 47;
const LAST_FLOWS: u32 = 48;
/// The type of events without duration.
const INSTANT: u64 = 3;

/// An event, and the range of its encoded bytes in those of the task.
#[derive(Debug)]
pub struct Instant {
    /// Nanoseconds from the origin.
    pub time: i64,
    /// Whose it is.
    pub key: ThreadKey,
    /// The CPU, where the packet tells one.
    pub cpu: Option<u64>,
    /// Where its bytes end; they begin where those of the one before end.
    pub end: usize,
}

/// Names that are told once, with a number for each.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<String, u64>,
    /// Those that are to be told.
    fresh: Vec<(u64, String)>,
}

impl Names {
    fn number(&mut self, name: &str) -> u64 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(name.to_owned(), number);
        self.fresh.push((number, name.to_owned()));
        number
    }

    fn push_fresh(&mut self, out: &mut Vec<u8>, field: u32) {
        for (number, name) in self.fresh.drain(..) {
            let entry = message(|entry| {
                push_number(entry, 1, number);
                push_bytes(entry, 2, &safe(name.as_bytes()));
            });
            push_bytes(out, field, &entry);
        }
    }
}

/// How the records of an event record class are written.
#[derive(Debug)]
struct ClassPlan {
    name: u64,
    /// The names of the members of the payload; `None` for those that are not shown.
    members: Vec<Option<u64>>,
    span: Option<SpanPlan>,
}

/// How an event of a span is written.
#[derive(Debug)]
struct SpanPlan {
    /// Index of the number of the span.
    id: usize,
    /// Index of that of the one around it, where it begins.
    parent: Option<usize>,
    /// What it is called, where it begins.
    name: Option<SpanName>,
}

/// What a task has read: its events in order, their bytes, and which of them are of spans.
#[derive(Debug, Default)]
pub struct Encoded {
    /// The events.
    pub rows: Vec<Instant>,
    /// Their bytes.
    pub bytes: Vec<u8>,
    /// What they tell of spans.
    pub spans: Vec<SpanMark>,
}

/// How the records of a data stream are written; `None` for calls.
pub struct Layout {
    stream: u32,
    space: u32,
    origin: Option<Origin>,
    cpu: Option<usize>,
    classes: Vec<Option<ClassPlan>>,
    /// Which of them are written, as `used_classes` has it.
    used: u64,
    /// The name of the argument that has the contexts.
    context: u64,
}

/// Encodes events.
#[derive(Default)]
pub struct Instants {
    layouts: HashMap<usize, (Arc<DataStream>, Arc<Layout>)>,
    event_names: Names,
    argument_names: Names,
}

impl Instants {
    /// The events of a merge that are no calls, in order, task by task.
    pub fn read(&mut self, merge: &Merge, fold: &mut CallFold) -> Vec<Encoded> {
        let layout = |batch: &Arc<Batch>| self.layout(&batch.stream, fold);
        let layouts: Vec<Arc<Layout>> = merge.batches.iter().map(layout).collect();
        // Most batches have nothing but calls.
        let batches = merge.batches.iter().zip(&layouts);
        let wanted: Vec<bool> =
            batches.map(|(batch, one)| batch.used_classes() & one.used != 0).collect();
        if !wanted.contains(&true) {
            return Vec::new();
        }
        let merge = merge.of_batches(&wanted);
        let tasks: Vec<Task> = read_records(&merge, &layouts);
        tasks.into_iter().map(|task| task.encoded).collect()
    }

    /// Appends the names that are new since the last call, as fields of `InternedData`.
    pub fn push_names(&mut self, out: &mut Vec<u8>) {
        self.event_names.push_fresh(out, 2);
        self.argument_names.push_fresh(out, 3);
    }

    fn layout(&mut self, stream: &Arc<DataStream>, fold: &mut CallFold) -> Arc<Layout> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some((_, layout)) = self.layouts.get(&key) {
            return Arc::clone(layout);
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let events = class.map_or(&[][..], |class| &class.event_classes);
        let calls = fold.call_classes(stream);
        let is_call = |index: usize| calls.get(index).copied().unwrap_or(false);
        let plans = events.iter().enumerate();
        let plans = plans.map(|(index, event)| (!is_call(index)).then(|| self.plan(event)));
        let classes: Vec<Option<ClassPlan>> = plans.collect();
        let written = (0u32..).zip(&classes).filter(|(_, plan)| plan.is_some());
        let used = used_classes(written.map(|(index, _)| index));
        let packet = class.and_then(|class| class.packet_context.as_ref());
        let layout = Arc::new(Layout {
            stream: fold.stream_number(stream),
            space: stream.identity.process_space,
            origin: class.map(|class| Origin::of(&stream.trace, class)),
            cpu: integer(packet, "cpu_id"),
            classes,
            used,
            context: self.argument_names.number("context"),
        });
        self.layouts.insert(key, (Arc::clone(stream), Arc::clone(&layout)));
        layout
    }

    fn plan(&mut self, event: &EventClass) -> ClassPlan {
        let name = self.event_names.number(event.name.as_deref().unwrap_or("(no name)"));
        let payload = event.payload.as_ref();
        let at = |name: &str| integer(payload, name);
        let has = |name: &str| payload.is_some_and(|class| class.member(name).is_some());
        let is_entry = has("parent_id") && has("task");
        let is_exit = has("error") && has("waited");
        let full_name = event.name.as_deref().unwrap_or_default();
        let stem = full_name.strip_suffix("_entry").unwrap_or(full_name);
        let span = at("span_id").filter(|_| is_entry || is_exit).map(|id| SpanPlan {
            id,
            parent: at("parent_id").filter(|_| is_entry),
            name: is_entry
                .then(|| SpanName { number: self.event_names.number(stem), text: stem.into() }),
        });
        let members = payload.map_or(&[][..], FieldClass::members).iter();
        let number = |member: &crate::model::Member| {
            (!member.is_hidden()).then(|| self.argument_names.number(member.name()))
        };
        ClassPlan { name, members: members.map(number).collect(), span }
    }
}

/// Encodes the events of a part of a merge.
#[derive(Default)]
struct Task {
    encoded: Encoded,
    /// The flows of the event that is being read.
    flows: Vec<u8>,
}

/// What is known of a packet.
struct Packet {
    known: crate::places::origin::Known,
    cpu: Option<u64>,
}

impl RecordTask for Task {
    type Layout = Arc<Layout>;
    type Packet = Packet;

    fn packet(layout: &Arc<Layout>, batch: &Batch, part: &Part) -> Packet {
        let known = layout.origin.map(|origin| origin.of_packet(batch, part)).unwrap_or_default();
        let context = batch.stream_class().and_then(|class| class.packet_context.as_ref());
        let cpu = context.zip(layout.cpu).and_then(|(context, index)| {
            let (mut reader, mut state) = (part.context_reader(), part.state());
            build_member(context, index, &mut reader, &mut state, &mut Arguments).ok()?
        });
        Packet { known, cpu: cpu.map(|cpu| cpu.bits) }
    }

    fn run(
        &mut self,
        layout: &Arc<Layout>,
        packet: &Packet,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        for record in records {
            let Some(Some(plan)) = layout.classes.get(record.class as usize) else { continue };
            let mut known = packet.known;
            if let Some(origin) = layout.origin {
                let mut reader = batch.body_reader(record, state);
                if let [Some(context), ..] = batch.body_scopes(record) {
                    let read = origin.of_record(known, context, false, &mut reader, state);
                    known = read.unwrap_or(known);
                }
            }
            let id = |number: Option<i64>| number.map_or(-1, |number| number as i32);
            let process = id(known.process);
            push_number(&mut self.encoded.bytes, TYPE, INSTANT);
            push_number(&mut self.encoded.bytes, NAME_ID, plan.name);
            self.push_fields((layout, plan, process), batch, record, state);
            self.encoded.rows.push(Instant {
                time: batch.nanoseconds(record),
                key: (layout.stream, layout.space, process, id(known.thread)),
                cpu: packet.cpu,
                end: self.encoded.bytes.len(),
            });
        }
    }
}

impl Task {
    /// Appends the fields of a record, as far as they can be decoded.
    fn push_fields(
        &mut self,
        (layout, plan, process): (&Layout, &ClassPlan, i32),
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> Option<()> {
        let mut reader = batch.body_reader(record, state);
        let [context, specific, payload] = batch.body_scopes(record);
        for scope in [context, specific].into_iter().flatten() {
            let value = build(scope, &mut reader, state, &mut Arguments).ok()?;
            self.push_argument(layout.context, &value);
        }
        let payload = payload?;
        reader.align(payload.alignment()).ok()?;
        let begin = self.encoded.bytes.len();
        self.flows.clear();
        let mut number = None;
        for (index, member) in payload.members().iter().enumerate() {
            let value = build(&member.class, &mut reader, state, &mut Arguments).ok()?;
            let Some(Some(name)) = plan.members.get(index) else { continue };
            self.push_argument(*name, &value);
            let Some(span) = &plan.span else { continue };
            let flow = flow((layout.space, process), value.bits);
            if index == span.id {
                // It goes on to where the span ends.
                number = Some(value.bits);
                let field = if span.name.is_some() { FLOWS } else { LAST_FLOWS };
                push_fixed(&mut self.flows, field, flow);
            } else if Some(index) == span.parent && value.bits != 0 {
                push_fixed(&mut self.flows, FLOWS, flow);
            }
        }
        if let (Some(number), Some(span)) = (number, &plan.span) {
            let end = self.encoded.bytes.len();
            self.encoded.bytes.extend_from_slice(&self.flows);
            // A slice ends without flows: that of its begin goes on to the instant.
            let end = if span.name.is_some() { self.encoded.bytes.len() } else { end };
            self.encoded.spans.push(SpanMark {
                row: self.encoded.rows.len(),
                number,
                name: span.name.clone(),
                arguments: begin..end,
            });
        }
        Some(())
    }

    fn push_argument(&mut self, name: u64, value: &Argument) {
        if value.encoded.is_empty() {
            return;
        }
        let argument = message(|out| {
            push_number(out, 1, name);
            out.extend_from_slice(&value.encoded);
        });
        push_bytes(&mut self.encoded.bytes, ARGUMENTS, &argument);
    }
}

/// The number of the flow of a span; span IDs count in their process.
fn flow((space, vpid): (u32, i32), span: u64) -> u64 {
    // Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014 (SplitMix64).
    let mix = |value: u64| {
        let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ value >> 31
    };
    mix(mix(u64::from(space) << 32 | u64::from(vpid as u32)).wrapping_add(span)).max(1)
}
