//! What threads are called: packets of one thread say so, or the common context of each record.
//!
//! A thread has the last name that is told. Whoever tells it in each record is asked for it
//! where records of another thread follow.

use std::collections::HashMap;
use std::sync::Arc;

use super::origin::{member_bytes, Known, Origin, Source};
use super::scan::{read_records, RecordTask};
use crate::keyed_hash::KeyedMap;
use crate::model::FieldKind;
use crate::muxer::Merge;
use crate::record::State;
use crate::stream::{Batch, DataStream, Part, Record};

const PROCNAME: &str = "procname";
/// How many threads may have names.
const MOST_NAMES: usize = 1 << 18;
/// How many bytes of a name are kept; that of a thread of Linux has 15.
const MOST_BYTES: usize = 128;

/// What tells a thread apart: process space, process ID (-1 if not told) and thread ID.
pub type NamedThread = (u32, i32, i32);

/// Where the names are in the records of a data stream.
struct Layout {
    origin: Origin,
    space: u32,
    /// Index of the name in the packet context or the common context.
    name: usize,
    is_of_packet: bool,
}

/// The names of threads.
#[derive(Default)]
pub struct ThreadNames {
    names: KeyedMap<NamedThread, Box<[u8]>>,
    /// By process space and data stream.
    layouts: HashMap<(u32, u64), Option<Arc<Layout>>>,
    /// The first packet of the batch of each data stream that was read last: file and offset.
    last: HashMap<u64, (usize, u64)>,
}

impl ThreadNames {
    /// Takes what a merge tells.
    pub fn add(&mut self, merge: &Merge) {
        let layouts: Vec<Option<Arc<Layout>>> =
            merge.batches.iter().map(|batch| self.layout(&batch.stream)).collect();
        for (batch, layout) in merge.batches.iter().zip(&layouts) {
            let Some(layout) = layout.as_ref().filter(|one| one.is_of_packet) else { continue };
            let first = (batch.file, batch.part(0).packet.properties.offset);
            if self.last.insert(batch.stream.origin(), first) != Some(first) {
                let found = batch.parts().filter_map(|part| layout.of_packet(batch, part));
                found.for_each(|(thread, name)| self.insert(thread, name));
            }
        }
        if layouts.iter().flatten().all(|layout| layout.is_of_packet) {
            return;
        }
        for Found { names, .. } in read_records::<Found>(merge, &layouts) {
            names.into_iter().for_each(|(thread, name)| self.insert(thread, name));
        }
    }

    /// The name of a thread.
    #[must_use]
    pub fn find(&self, thread: NamedThread) -> Option<&[u8]> {
        self.names.get(&thread).map(|name| &**name)
    }

    /// The names, in no order.
    pub fn all(&self) -> impl Iterator<Item = (NamedThread, &[u8])> {
        self.names.iter().map(|(thread, name)| (*thread, &**name))
    }

    fn insert(&mut self, thread: NamedThread, name: Box<[u8]>) {
        if self.names.len() < MOST_NAMES || self.names.contains_key(&thread) {
            self.names.insert(thread, name);
        }
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Option<Arc<Layout>> {
        let key = (stream.identity.process_space, stream.classes());
        let layout = self.layouts.entry(key);
        layout.or_insert_with(|| Layout::of(stream).map(Arc::new)).clone()
    }
}

impl Layout {
    /// That of a data stream; `None` where nothing tells names of threads.
    fn of(stream: &DataStream) -> Option<Self> {
        let class = stream.trace.stream_classes.get(stream.class)?;
        let origin = Origin::of(&stream.trace, class);
        let is_of_packet = matches!(origin.thread?, Source::Packet(_));
        let scope = if is_of_packet { &class.packet_context } else { &class.event_context };
        let (name, member) = scope.as_ref()?.member(PROCNAME)?;
        // Numbers are none.
        let is_text = !matches!(member.kind, FieldKind::Integer(_));
        let space = stream.identity.process_space;
        is_text.then_some(Self { origin, space, name, is_of_packet })
    }

    fn of_packet(&self, batch: &Batch, part: &Part) -> Option<(NamedThread, Box<[u8]>)> {
        let context = batch.stream_class()?.packet_context.as_ref()?;
        let known = self.origin.of_packet(batch, part);
        let (mut reader, mut state) = (part.context_reader(), part.state());
        let name = member_bytes(context, self.name, &mut reader, &mut state)?;
        let process = known.process.map_or(-1, |vpid| vpid as i32);
        Some(((self.space, process, known.thread? as i32), kept(name)?))
    }
}

fn kept(name: &[u8]) -> Option<Box<[u8]>> {
    (!name.is_empty()).then(|| name.get(..MOST_BYTES).unwrap_or(name).into())
}

/// What some records tell.
#[derive(Default)]
struct Found {
    names: KeyedMap<NamedThread, Box<[u8]>>,
    last: Option<NamedThread>,
}

impl RecordTask for Found {
    type Layout = Option<Arc<Layout>>;
    type Packet = Known;

    fn packet(layout: &Self::Layout, batch: &Batch, part: &Part) -> Known {
        layout.as_ref().map_or_else(Known::default, |one| one.origin.of_packet(batch, part))
    }

    fn run(
        &mut self,
        layout: &Self::Layout,
        packet: &Known,
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let Some(layout) = layout.as_ref().filter(|one| !one.is_of_packet) else { return };
        self.last = None;
        for (index, record) in records.iter().enumerate() {
            let is_last = index + 1 == records.len();
            // What cannot be read tells nothing.
            let _ = self.take(layout, *packet, (batch, record), is_last, state);
        }
    }
}

impl Found {
    /// Takes what a record tells, if the one before was of another thread.
    fn take(
        &mut self,
        layout: &Layout,
        packet: Known,
        (batch, record): (&Batch, &Record),
        is_last: bool,
        state: &mut State,
    ) -> Option<()> {
        let [context, ..] = batch.body_scopes(record);
        let context = context?;
        let mut reader = batch.body_reader(record, state);
        let known = layout.origin.of_record(packet, context, false, &mut reader, state)?;
        let process = known.process.map_or(-1, |vpid| vpid as i32);
        let thread = (layout.space, process, known.thread? as i32);
        if self.last.replace(thread) == Some(thread) && !is_last {
            return Some(());
        }
        let mut reader = batch.body_reader(record, state);
        let name = member_bytes(context, layout.name, &mut reader, state)?;
        let before = self.names.get(&thread);
        if before.is_none_or(|before| **before != *name) {
            self.names.insert(thread, kept(name)?);
        }
        Some(())
    }
}
