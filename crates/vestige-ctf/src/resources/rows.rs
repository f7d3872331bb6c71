//! The records of some event record classes as rows of numbers: who made them, when, and some
//! integers of their payload; read on all cores.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{EventClass, FieldKind};
use crate::muxer::Merge;
use crate::places::origin::{numbers, Known, Origin};
use crate::places::scan::{read_records, RecordTask};
use crate::record::{skip, State};
use crate::stream::{self, Batch, DataStream, Record};

/// How many integers a row may have.
pub const COUNT: usize = 4;

/// A class of events that is wanted: its name, and the fields that rows have.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name.
    pub name: String,
    /// Names of integers of the payload.
    pub fields: [Option<String>; COUNT],
}

/// What a record tells.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Index of what is wanted.
    pub kind: usize,
    /// Nanoseconds from the origin.
    pub time: i64,
    /// Where the process ID counts.
    pub space: u32,
    /// Process ID, where it is known.
    pub process: Option<i64>,
    /// Thread ID, where it is known.
    pub thread: Option<i64>,
    /// The integers; 0 where there is no such field.
    pub values: [u64; COUNT],
}

/// Where the fields of a class are in its payload, and the last of them.
#[derive(Debug)]
struct ClassLayout {
    kind: usize,
    fields: [Option<usize>; COUNT],
    last: Option<usize>,
}

/// Where fields are in the records of a data stream.
#[derive(Debug)]
pub struct Layout {
    origin: Option<Origin>,
    classes: Vec<Option<ClassLayout>>,
}

/// Reads rows.
pub struct Rows {
    wanted: Vec<Wanted>,
    /// By the address of the data stream, which the entry keeps alive.
    layouts: HashMap<usize, (Arc<DataStream>, Arc<Layout>)>,
}

impl Rows {
    /// A reader of some classes.
    #[must_use]
    pub fn new(wanted: Vec<Wanted>) -> Self {
        Self { wanted, layouts: HashMap::new() }
    }

    /// What each record of a merge tells, part by part in order; `None` for those of other
    /// classes, and for what does not fit its class.
    pub fn read(&mut self, merge: &Merge) -> impl Iterator<Item = Vec<Option<Row>>> {
        let layouts: Vec<Arc<Layout>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        read_records::<Part>(merge, &layouts).into_iter().map(|part| part.0)
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Arc<Layout> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some((_, layout)) = self.layouts.get(&key) {
            return Arc::clone(layout);
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let events = class.map_or(&[][..], |class| &class.event_classes);
        let layout = Arc::new(Layout {
            origin: class.map(|class| Origin::of(&stream.trace, class)),
            classes: events.iter().map(|event| self.class_layout(event)).collect(),
        });
        self.layouts.insert(key, (Arc::clone(stream), Arc::clone(&layout)));
        layout
    }

    fn class_layout(&self, event: &EventClass) -> Option<ClassLayout> {
        let name = event.name.as_deref()?;
        let kind = self.wanted.iter().position(|one| one.name == name)?;
        let index = |field: &Option<String>| {
            let (index, member) = event.payload.as_ref()?.member(field.as_deref()?)?;
            matches!(member.kind, FieldKind::Integer(_)).then_some(index)
        };
        let fields = self.wanted.get(kind)?.fields.each_ref().map(index);
        let last = fields.iter().copied().max().flatten();
        Some(ClassLayout { kind, fields, last })
    }
}

/// The rows of a task.
#[derive(Default)]
struct Part(Vec<Option<Row>>);

impl RecordTask for Part {
    type Layout = Arc<Layout>;
    type Packet = Known;

    fn packet(layout: &Self::Layout, batch: &Batch, part: &stream::Part) -> Known {
        layout.origin.map_or_else(Known::default, |origin| origin.of_packet(batch, part))
    }

    fn run(
        &mut self,
        layout: &Self::Layout,
        packet: &Known,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        self.0.extend(records.iter().map(|record| layout.read(*packet, batch, record, state)));
    }
}

impl Layout {
    #[inline]
    fn read(
        &self,
        packet: Known,
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> Option<Row> {
        let class = self.classes.get(record.class as usize)?.as_ref()?;
        let mut reader = batch.body_reader(record, state);
        let [context, specific, payload] = batch.body_scopes(record);
        let mut known = packet;
        if let (Some(context), Some(origin)) = (context, self.origin) {
            known = origin.of_record(packet, context, true, &mut reader, state)?;
        }
        let mut values = [0; COUNT];
        if let (Some(last), Some(payload)) = (class.last, payload) {
            if let Some(specific) = specific {
                skip(specific, &mut reader, state).ok()?;
            }
            let found = numbers(payload, class.fields, last, &mut reader, state)?;
            values = found.map(Option::unwrap_or_default);
        }
        Some(Row {
            kind: class.kind,
            time: batch.nanoseconds(record),
            space: batch.stream.identity.process_space,
            process: known.process,
            thread: known.thread,
            values,
        })
    }
}
