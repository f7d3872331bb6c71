//! Where the parts of an arena lie.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::layout::{
    CLASS_TABLE_BYTES, LEDGER_BYTES, MOST_RING_CHUNKS, PACKET_BYTES, RECORDS_AT, REGION, SLOT_BYTES,
};
use crate::mapping::{Mapping, PAGE};
use crate::views::Control;

const MOST_SLOTS: u32 = 1 << 20;
const LARGEST_CHUNK: u32 = 64 << 20;
/// An arena of a whole address space is none of ours.
const LARGEST_ARENA: u64 = 1 << 46;

/// Offsets and counts; each part is inside of the file, and none overlaps the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub arena_bytes: u64,
    pub shared_at: u64,
    pub ledgers_at: u64,
    pub rules_at: u64,
    pub rules_bytes: u64,
    pub slots_at: u64,
    pub classes_at: u64,
    pub classes_bytes: u64,
    pub chunks_at: u64,
    pub chunk_bytes: u32,
    pub chunk_count: u32,
    pub slot_count: u32,
    pub ring_chunks: u32,
}

fn region(bytes: u64) -> u64 {
    bytes.div_ceil(REGION) * REGION
}

impl Geometry {
    /// Plans an arena; the offsets follow from counts and sizes.
    #[must_use]
    pub fn plan(
        chunk_bytes: u32,
        chunk_count: u32,
        slot_count: u32,
        ring_chunks: u32,
        rules_bytes: u64,
        classes_bytes: u64,
    ) -> Self {
        let ledgers_at = REGION;
        let rules_at = ledgers_at + region(u64::from(slot_count) * LEDGER_BYTES);
        let shared_at = rules_at + region(rules_bytes);
        let slots_at = shared_at + REGION;
        let classes_at = slots_at + region(u64::from(slot_count) * SLOT_BYTES);
        let chunks_at = classes_at + region(CLASS_TABLE_BYTES + classes_bytes);
        Self {
            arena_bytes: chunks_at + u64::from(chunk_bytes) * u64::from(chunk_count),
            shared_at,
            ledgers_at,
            rules_at,
            rules_bytes,
            slots_at,
            classes_at,
            classes_bytes,
            chunks_at,
            chunk_bytes,
            chunk_count,
            slot_count,
            ring_chunks,
        }
    }

    /// Reads the geometry of an arena that was made before.
    pub fn read(memory: &Mapping) -> io::Result<Self> {
        Self::of(Control::new(memory, 0), memory.bytes())
    }

    /// The geometry that a control structure tells, of a file that has so many bytes.
    pub fn of(control: Control<'_>, file_bytes: u64) -> io::Result<Self> {
        let long = |field: &AtomicU64| field.load(Ordering::Relaxed);
        let short = |field: &AtomicU32| field.load(Ordering::Relaxed);
        let found = Self {
            arena_bytes: long(control.arena_bytes()),
            shared_at: long(control.shared_at()),
            ledgers_at: long(control.ledgers_at()),
            rules_at: long(control.rules_at()),
            rules_bytes: long(control.rules_bytes()),
            slots_at: long(control.slots_at()),
            classes_at: long(control.classes_at()),
            classes_bytes: long(control.classes_bytes()),
            chunks_at: long(control.chunks_at()),
            chunk_bytes: short(control.chunk_bytes()),
            chunk_count: short(control.chunk_count()),
            slot_count: short(control.slot_count()),
            ring_chunks: short(control.ring_chunks()),
        };
        let is_bounded = found.are_counts_good()
            && found.rules_bytes <= LARGEST_ARENA
            && found.classes_bytes <= u64::from(u32::MAX);
        let planned = is_bounded.then(|| {
            Self::plan(
                found.chunk_bytes,
                found.chunk_count,
                found.slot_count,
                found.ring_chunks,
                found.rules_bytes,
                found.classes_bytes,
            )
        });
        if planned == Some(found) && found.arena_bytes <= file_bytes {
            return Ok(found);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "the parts of the arena do not fit"))
    }

    /// Whether an arena can be made with these counts and sizes.
    #[must_use]
    pub fn are_counts_good(&self) -> bool {
        let (chunk, slots) = (self.chunk_bytes, self.slot_count);
        chunk % PAGE == 0
            && (PAGE..=LARGEST_CHUNK).contains(&chunk)
            && chunk > RECORDS_AT + PACKET_BYTES
            && self.chunk_count > 0
            && (1..=MOST_SLOTS).contains(&slots)
            && (2..=MOST_RING_CHUNKS).contains(&self.ring_chunks)
    }

    /// Stores the geometry where programs look for it.
    pub fn store(&self, memory: &Mapping) {
        let control = Control::new(memory, 0);
        let long = |field: &AtomicU64, value| field.store(value, Ordering::Relaxed);
        let short = |field: &AtomicU32, value| field.store(value, Ordering::Relaxed);
        long(control.arena_bytes(), self.arena_bytes);
        long(control.shared_at(), self.shared_at);
        long(control.ledgers_at(), self.ledgers_at);
        long(control.rules_at(), self.rules_at);
        long(control.rules_bytes(), self.rules_bytes);
        long(control.slots_at(), self.slots_at);
        long(control.classes_at(), self.classes_at);
        long(control.classes_bytes(), self.classes_bytes);
        long(control.chunks_at(), self.chunks_at);
        short(control.chunk_bytes(), self.chunk_bytes);
        short(control.chunk_count(), self.chunk_count);
        short(control.slot_count(), self.slot_count);
        short(control.ring_chunks(), self.ring_chunks);
    }
}
