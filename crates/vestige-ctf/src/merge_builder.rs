//! Merges of what is put in order by somebody else, one thing after the other.
//!
//! Event records that somebody makes are encoded by their classes, as a file would hold them.
//! Those of other merges stay where they are: the new merge refers to their batches.

use std::collections::HashMap;
use std::sync::Arc;

use crate::encode::bit_writer::{BitWriter, Output};
use crate::encode::value::{Cell, Value};
use crate::encode::{packet_head, EncodeError, EventLayout, PacketHead};
use crate::muxer::{Merge, Notice, Run};
use crate::stream::{Batch, DataStream, Packet, PacketProperties, Record};

/// Most bytes of a batch: bit offsets in it have 32 bits, and a record may be large.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// An event record that is made.
pub struct MadeRecord<'a> {
    /// Its data stream.
    pub stream: &'a Arc<DataStream>,
    /// Its packet.
    pub packet: &'a Arc<Packet>,
    /// Index of its class in the stream class.
    pub class: usize,
    /// Clock value.
    pub cycles: u64,
    /// Common context, specific context and payload: structures.
    pub scopes: [&'a Value; 3],
}

/// A packet that is in no file.
///
/// # Errors
///
/// When a value of its context does not fit.
pub fn made_packet(
    stream: &DataStream,
    stream_id: u64,
    beginning: Option<u64>,
    context: &Value,
) -> Result<Packet, EncodeError> {
    let head = packet_head(&stream.trace, stream.class, stream_id, beginning, context)?;
    let PacketHead { data, context_at, events_at, slots } = head;
    let properties = PacketProperties {
        total_bits: events_at.next_multiple_of(8),
        content_bits: events_at,
        available_bits: events_at,
        context_at,
        events_at,
        stream_class: stream.class,
        stream_instance: Some(stream_id),
        beginning,
        ..PacketProperties::default()
    };
    Ok(Packet { properties, head: data, slots })
}

/// A batch to which records are added.
struct OpenBatch {
    stream: Arc<DataStream>,
    out: BitWriter,
    records: Vec<Record>,
    /// Packets, each with its first byte and the index of its first record.
    packets: Vec<(Arc<Packet>, usize, usize)>,
    slots: Vec<i128>,
}

/// Where the records of a batch are.
enum Place {
    Given(Arc<Batch>),
    Open(Box<OpenBatch>),
}

/// Makes merges.
#[derive(Default)]
pub struct MergeBuilder {
    streams: Vec<Arc<DataStream>>,
    /// Ranks of data streams by what tells them apart.
    ranks: HashMap<u64, usize>,
    batches: Vec<Place>,
    /// Indexes of the batches of other merges, by their addresses.
    given: HashMap<usize, u32>,
    /// Indexes of the batches to which records are added, by the addresses of the parts of data
    /// streams, which these keep.
    open: HashMap<usize, u32>,
    runs: Vec<Run>,
    notices: Vec<(usize, usize, Notice)>,
    records: usize,
    /// A run with a lower index is before a notice, and stays as it is.
    first_run: usize,
}

impl MergeBuilder {
    /// The rank of a data stream, which is added unless it is there.
    pub fn rank(&mut self, stream: &Arc<DataStream>) -> usize {
        let streams = &mut self.streams;
        *self.ranks.entry(stream.origin()).or_insert_with(|| {
            streams.push(Arc::clone(stream));
            streams.len() - 1
        })
    }

    /// How many event records and notices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records + self.notices.len()
    }

    /// How many event records there are.
    #[must_use]
    pub fn records(&self) -> usize {
        self.records
    }

    /// Whether there is nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a notice of a data stream.
    pub fn notice(&mut self, rank: usize, notice: Notice) {
        self.notices.push((rank, self.runs.len(), notice));
        self.first_run = self.runs.len();
    }

    /// Adds a record of another merge.
    pub fn pass(&mut self, batch: &Arc<Batch>, row: u32) {
        self.rank(&batch.stream);
        let batches = &mut self.batches;
        let index = *self.given.entry(Arc::as_ptr(batch) as usize).or_insert_with(|| {
            batches.push(Place::Given(Arc::clone(batch)));
            (batches.len() - 1) as u32
        });
        self.push(index, batch.part_of_row(row as usize), row);
    }

    /// Encodes a record and adds it, or nothing of it.
    ///
    /// # Errors
    ///
    /// When a value does not fit its field class.
    pub fn event(&mut self, made: &MadeRecord<'_>) -> Result<(), EncodeError> {
        self.rank(made.stream);
        let address = Arc::as_ptr(made.stream) as usize;
        let index = self.open_batch(address, made.stream);
        let Some(Place::Open(batch)) = self.batches.get_mut(index as usize) else {
            return Ok(());
        };
        let (part, row) = batch.add(made)?;
        if batch.out.position() > MOST_BYTES * 8 {
            self.open.remove(&address);
        }
        self.push(index, part, row);
        Ok(())
    }

    /// The index of the batch to which records of a data stream are added.
    fn open_batch(&mut self, address: usize, stream: &Arc<DataStream>) -> u32 {
        let batches = &mut self.batches;
        *self.open.entry(address).or_insert_with(|| {
            batches.push(Place::Open(Box::new(OpenBatch {
                stream: Arc::clone(stream),
                out: BitWriter::default(),
                records: Vec::new(),
                packets: Vec::new(),
                slots: Vec::new(),
            })));
            (batches.len() - 1) as u32
        })
    }

    fn push(&mut self, batch: u32, part: u32, row: u32) {
        self.records += 1;
        match self.runs.get_mut(self.first_run..).and_then(<[Run]>::last_mut) {
            Some(run) if run.batch == batch && run.part == part && run.end == row => run.end += 1,
            _ => self.runs.push(Run { batch, part, start: row, end: row + 1 }),
        }
    }

    /// What was added, as a merge. The ranks of data streams stay as they are.
    pub fn finish(&mut self) -> Merge {
        self.open.clear();
        self.given.clear();
        self.records = 0;
        self.first_run = 0;
        let batches = std::mem::take(&mut self.batches);
        // Each has a packet: the first record that was tried has begun one.
        let batches = batches.into_iter().filter_map(|place| match place {
            Place::Given(batch) => Some(batch),
            Place::Open(open) => open.close().map(Arc::new),
        });
        let batches = batches.collect();
        let (runs, notices) = (std::mem::take(&mut self.runs), std::mem::take(&mut self.notices));
        Merge::of(Arc::new(self.streams.clone()), batches, runs, notices)
    }
}

impl OpenBatch {
    /// Adds a record; returns the index of its part, and its own.
    fn add(&mut self, made: &MadeRecord<'_>) -> Result<(u32, u32), EncodeError> {
        self.begin_part(made.packet);
        let layout =
            EventLayout::new(Arc::clone(&self.stream.trace), self.stream.class, made.class);
        let layout = layout.ok_or_else(|| EncodeError::new("there is no such event class"))?;
        self.slots.clear();
        // Values of its packet are known to its fields.
        self.slots.extend(made.packet.slots.iter().map(|&value| i128::from(value)));
        let start = self.out.position();
        let scopes = made.scopes.map(Cell::Value);
        let encoded = layout.encode_after(&mut self.out, &mut self.slots, made.cycles, scopes);
        let body = encoded.inspect_err(|_| self.out.truncate(start))?;
        let row = self.records.len() as u32;
        self.records.push(Record {
            cycles: made.cycles,
            start: start as u32,
            body: body as u32,
            class: made.class as u32,
            passes: true,
        });
        Ok((self.packets.len().saturating_sub(1) as u32, row))
    }

    /// Begins a part unless the last one is of the same packet.
    fn begin_part(&mut self, packet: &Arc<Packet>) {
        if self.packets.last().is_some_and(|(last, ..)| Arc::ptr_eq(last, packet)) {
            return;
        }
        let bytes = self.out.position().div_ceil(8) as usize;
        let at = bytes.next_multiple_of(self.stream.alignment_in_bytes());
        self.out.zeros(at - bytes);
        self.packets.push((Arc::clone(packet), at, self.records.len()));
    }

    fn close(self) -> Option<Batch> {
        Batch::of_encoded(self.stream, self.packets, self.out.into_data(), self.records)
    }
}
