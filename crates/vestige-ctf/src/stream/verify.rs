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
    let (mut start, mut bytes) = (0, 0u64);
    let are_apart = stand_apart(stream);
    let mut end = None;
    let mut push = |packets, bytes| {
        chunks.push(Chunk { stream: Arc::clone(stream), packets, bytes });
    };
    for index in 0..stream.packets.len() {
        let Some((file, packet)) = stream.packets.get(index) else { continue };
        let Some(packets) = stream.files.get(file).map(|file| &file.packets) else { continue };
        if are_apart && bytes >= CHUNK && follows(end, packets.beginning(packet)) {
            push(start..index, bytes);
            (start, bytes) = (index, 0);
        }
        bytes = bytes.saturating_add(packets.size(packet).unwrap_or(0));
        end = packets.end(packet);
    }
    push(start..stream.packets.len(), bytes);
    chunks
}

/// Whether packets set their own clock, and their ends are checked: then one can be decoded
/// without the one before, if that ends before it.
fn stand_apart(stream: &DataStream) -> bool {
    let class = stream.trace.stream_classes.get(stream.class);
    let context = class.and_then(|class| class.packet_context.as_ref());
    let ends_are_checked = stream.files.iter().all(|file| file.trust.end && file.trust.beginning);
    ends_are_checked && context.is_some_and(sets_clock)
}

/// Whether a packet begins after the end of the one before.
fn follows(end: Option<u64>, beginning: Option<u64>) -> bool {
    matches!((end, beginning), (Some(end), Some(beginning)) if end != 0 && end <= beginning)
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
            Item::Lost(_) | Item::Boundary(_) | Item::Nothing => {}
            Item::Damage(..) => {
                outcome.right = false;
                break;
            }
        }
    }
    outcome
}
