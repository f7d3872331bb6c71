//! What threads are called: packets of one thread say so, or the common context of each record.
//!
//! A thread has the name that was told last, whichever data stream tells it. Whoever tells it
//! in each record is asked for it where records of another thread follow.

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

/// A name, and when it was told: the end of a packet, or the time of a record.
struct Told {
    time: i64,
    name: Box<[u8]>,
}

/// The names of threads.
#[derive(Default)]
pub struct ThreadNames {
    names: KeyedMap<NamedThread, Told>,
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
                found.for_each(|(thread, told)| self.insert(thread, told));
            }
        }
        if layouts.iter().flatten().all(|layout| layout.is_of_packet) {
            return;
        }
        for Found { names, .. } in read_records::<Found>(merge, &layouts) {
            names.into_iter().for_each(|(thread, told)| self.insert(thread, told));
        }
    }

    /// The name of a thread.
    #[must_use]
    pub fn find(&self, thread: NamedThread) -> Option<&[u8]> {
        self.names.get(&thread).map(|told| &*told.name)
    }

    /// The names, in no order.
    pub fn all(&self) -> impl Iterator<Item = (NamedThread, &[u8])> {
        self.names.iter().map(|(thread, told)| (*thread, &*told.name))
    }

    fn insert(&mut self, thread: NamedThread, told: Told) {
        // Data streams of the same thread come one after the other.
        let is_later = match self.names.get(&thread) {
            Some(before) => before.time <= told.time,
            None => self.names.len() < MOST_NAMES,
        };
        if is_later {
            self.names.insert(thread, told);
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

    fn of_packet(&self, batch: &Batch, part: &Part) -> Option<(NamedThread, Told)> {
        let context = batch.stream_class()?.packet_context.as_ref()?;
        let known = self.origin.of_packet(batch, part);
        let (mut reader, mut state) = (part.context_reader(), part.state());
        let name = member_bytes(context, self.name, &mut reader, &mut state)?;
        let properties = &part.packet.properties;
        // A thread that gives itself a name gives it to its packets that have not ended.
        let cycles = properties.end.or(properties.beginning);
        let time = cycles.map_or(i64::MIN, |cycles| batch.stream.nanoseconds(cycles));
        Some((self.thread(known)?, Told { time, name: kept(name)? }))
    }

    fn thread(&self, known: Known) -> Option<NamedThread> {
        let process = known.process.map_or(-1, |vpid| vpid as i32);
        Some((self.space, process, known.thread? as i32))
    }

    fn of_record(
        &self,
        packet: Known,
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> Option<NamedThread> {
        let [context, ..] = batch.body_scopes(record);
        let mut reader = batch.body_reader(record, state);
        self.thread(self.origin.of_record(packet, context?, false, &mut reader, state)?)
    }
}

fn kept(name: &[u8]) -> Option<Box<[u8]>> {
    (!name.is_empty()).then(|| name.get(..MOST_BYTES).unwrap_or(name).into())
}

/// What some records tell.
#[derive(Default)]
struct Found {
    names: KeyedMap<NamedThread, Told>,
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
        let mut last: Option<(NamedThread, &Record)> = None;
        for record in records {
            // What cannot be read tells nothing.
            let Some(thread) = layout.of_record(*packet, batch, record, state) else { continue };
            let before = last.replace((thread, record));
            if let Some((before, record)) = before.filter(|(before, _)| *before != thread) {
                let _ = self.take(layout, before, (batch, record), state);
            }
        }
        if let Some((thread, record)) = last {
            let _ = self.take(layout, thread, (batch, record), state);
        }
    }
}

impl Found {
    /// Takes what the last record in a row of a thread tells.
    fn take(
        &mut self,
        layout: &Layout,
        thread: NamedThread,
        (batch, record): (&Batch, &Record),
        state: &mut State,
    ) -> Option<()> {
        let [context, ..] = batch.body_scopes(record);
        let mut reader = batch.body_reader(record, state);
        let name = member_bytes(context?, layout.name, &mut reader, state)?;
        let time = batch.nanoseconds(record);
        match self.names.get_mut(&thread) {
            Some(before) if before.time > time => {}
            Some(before) if *before.name == *name => before.time = time,
            _ => {
                self.names.insert(thread, Told { time, name: kept(name)? });
            }
        }
        Some(())
    }
}
