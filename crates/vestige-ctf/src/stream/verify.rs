//! Decoding all of some data streams when nobody looks at the order of their records.
//!
//! Packets are independent of each other, so they are decoded on all cores as they come.
//! Whatever is found wrong, the ordinary way finds and tells better: the answer here is
//! only whether everything is right.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use vestige_workers::on_all_cores;

use super::data_stream::DataStream;
use super::packet_entry::PacketEntry;
use super::reader::{Item, StreamReader};
use super::selection::Selection;
use crate::model::{FieldClass, FieldKind, Role};

/// About how many bytes of packets make a chunk.
const CHUNK: u64 = 256 * 1024;

/// Some packets of a data stream.
struct Chunk {
    stream: Arc<DataStream>,
    packets: Range<usize>,
    bytes: u64,
}

/// What decoding a chunk found.
struct Outcome {
    records: u64,
    right: bool,
}

/// Decodes data streams, a part at a time so that the caller can stop in between.
pub struct Verifier {
    chunks: VecDeque<Chunk>,
    records: u64,
    right: bool,
}

impl Verifier {
    /// A verifier of some data streams.
    #[must_use]
    pub fn new(streams: &[Arc<DataStream>]) -> Self {
        let damaged =
            streams.iter().any(|stream| stream.files.iter().any(|file| !file.damage.is_empty()));
        let mut chunks: Vec<Chunk> = streams.iter().flat_map(chunks_of).collect();
        // Long pieces first: the last ones then end at about the same time.
        chunks.sort_by_key(|chunk| std::cmp::Reverse(chunk.bytes));
        Self { chunks: chunks.into(), records: 0, right: !damaged }
    }

    /// Decodes about so many bytes; returns whether there is more to do.
    pub fn step(&mut self, bytes: u64) -> bool {
        let mut part = Vec::new();
        let mut size = 0;
        while size < bytes {
            let Some(chunk) = self.chunks.pop_front() else { break };
            size += chunk.bytes;
            part.push(chunk);
        }
        let outcomes: Vec<Outcome> =
            on_all_cores(|| part.into_par_iter().with_max_len(1).map(|one| verify(&one)).collect());
        self.records += outcomes.iter().map(|outcome| outcome.records).sum::<u64>();
        self.right &= outcomes.iter().all(|outcome| outcome.right);
        self.right && !self.chunks.is_empty()
    }

    /// The number of records, when all was decoded and nothing was wrong.
    #[must_use]
    pub fn records(&self) -> Option<u64> {
        (self.right && self.chunks.is_empty()).then_some(self.records)
    }
}

/// A data stream in chunks that stand for themselves: of some small packets, or of one.
fn chunks_of(stream: &Arc<DataStream>) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    let mut before: Option<PacketEntry> = None;
    let mut push = |packets, bytes| {
        chunks.push(Chunk { stream: Arc::clone(stream), packets, bytes });
    };
    for index in 0..stream.packets.len() {
        let Some(entry) = stream.entry(index) else { continue };
        let stands = before.as_ref().is_some_and(|before| follows(stream, before, &entry));
        if stands && bytes >= CHUNK {
            push(start..index, bytes);
            (start, bytes) = (index, 0);
        }
        bytes = entry.size.saturating_add(bytes);
        before = Some(entry);
    }
    push(start..stream.packets.len(), bytes);
    chunks
}

/// Whether a packet sets its own clock, and the one before proves to end before it: then
/// both can be decoded without the other.
fn follows(stream: &DataStream, before: &PacketEntry, after: &PacketEntry) -> bool {
    let class = stream.trace.stream_classes.get(stream.class);
    let context = class.and_then(|class| class.packet_context.as_ref());
    let ends_are_checked = stream.files.iter().all(|file| file.trust.end && file.trust.beginning);
    let ordered = match (before.end, after.beginning) {
        (Some(end), Some(beginning)) => end != 0 && end <= beginning,
        _ => false,
    };
    ordered && ends_are_checked && context.is_some_and(sets_clock)
}

fn sets_clock(context: &FieldClass) -> bool {
    match &context.kind {
        FieldKind::Integer(class) => {
            class.role == Some(Role::PacketBeginning) && class.clock.is_some() && class.size == 64
        }
        FieldKind::Structure { members, .. } => {
            members.iter().any(|member| sets_clock(&member.class))
        }
        _ => false,
    }
}

fn verify(chunk: &Chunk) -> Outcome {
    let selection = Selection { check: true, ..Selection::default() };
    let mut reader =
        StreamReader::of_packets(Arc::clone(&chunk.stream), selection, chunk.packets.clone());
    let mut outcome = Outcome { records: 0, right: true };
    while let Some(item) = reader.next_item() {
        match item {
            Item::Batch(batch) => outcome.records += batch.records.len() as u64,
            Item::Lost(_) => {}
            Item::Damage(..) => {
                outcome.right = false;
                break;
            }
        }
    }
    outcome
}
