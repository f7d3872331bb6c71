//! The structures of an arena, field by field.

use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::layout;
use crate::mapping::Mapping;

macro_rules! number {
    (u32) => {
        AtomicU32
    };
    (u64) => {
        AtomicU64
    };
}

/// A type that gives the named fields of a structure in the memory as atomics.
macro_rules! view {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a> {
            memory: &'a Mapping,
            at: u64,
        }

        impl<'a> $name<'a> {
            /// The structure that begins at an offset.
            pub const fn new(memory: &'a Mapping, at: u64) -> Self {
                Self { memory, at }
            }

            $(#[doc = concat!("The field `", stringify!($field), "`.")]
            pub fn $field(self) -> &'a number!($kind) {
                self.memory.$kind(self.at + offset_of!(layout::$name, $field) as u64)
            })*
        }
    };
}

view! {
    /// At the beginning of the file.
    Control {
        fingerprint: u64, arena_bytes: u64, shared_at: u64, ledgers_at: u64, rules_at: u64,
        rules_bytes: u64, slots_at: u64, classes_at: u64, classes_bytes: u64, chunks_at: u64,
        chunk_bytes: u32, chunk_count: u32, slot_count: u32, ring_chunks: u32, wait_ns: u64,
        state: u32, progress: u32, collector_pid: u32, flags: u32, chunks_ready: u32,
        slots_ready: u32, first_class: u32, cpu_rings: u32, max_bytes: u64, thread_chunks: u32,
        mount_namespace: u64, directory_device: u64, directory_inode: u64, root_device: u64,
        root_inode: u64,
    }
}

view! {
    /// What programs share.
    Shared {
        free_slots: u64, free_chunks: u64, free_chunk_count: u32, slots_high: u32, lost: u64,
        slot_waiters: u32, doorbell: u32, asleep: u32, class_count: u32, class_text_used: u32,
        class_text_ready: u32, unreached_count: u32,
    }
}

view! {
    /// A thread's place.
    Slot {
        life: u32, cur: u64, lost: u64, first_lost: u64, last_lost: u64, taken: u32,
        popped: u32, waiting: u32, next_free: u32, claimed: u32, vpid: u32, vtid: u32,
        flags: u32, pid_namespace: u64, process_start: u64, gone: u64,
    }
}

view! {
    /// What the collector notes for a slot.
    Ledger {
        consumed: u32, given: u32, returned: u32, generation: u32, drained_seq: u64,
        taken_from: u64, taken_to: u64,
    }
}

view! {
    /// The head of a chunk.
    Chunk {
        committed: u32, owner: u32, next_free: u32, prev: u32, seq: u64, flags: u32,
        lost: u64, first_lost: u64, last_lost: u64, least_end: u64, before: u32,
    }
}

view! {
    /// What a thread fills of its packet.
    Packet { timestamp_begin: u64, timestamp_end: u64, vpid: u32, vtid: u32, }
}

view! {
    /// A program that is not recorded.
    Unreached { number: u32, reason: u32, process: u32, parent: u32, pid_namespace: u64, }
}

view! {
    /// A registered event class.
    Class { text_at: u32, text_size: u32, process: u32, }
}

/// A name in 16 bytes, which always ends in a zero.
fn read_name(memory: &Mapping, at: u64) -> [u8; 16] {
    let mut name = [0; 16];
    memory.read(at, &mut name);
    if let Some(last) = name.last_mut() {
        *last = 0;
    }
    name
}

impl Slot<'_> {
    /// The name of the thread.
    pub fn procname(self) -> [u8; 16] {
        read_name(self.memory, self.at + offset_of!(layout::Slot, procname) as u64)
    }

    /// Whether the thread has ended: nothing of it is written any more.
    pub fn has_died(self) -> bool {
        self.life().load(Ordering::Acquire) & layout::OWNER_DIED != 0
    }
}

impl Unreached<'_> {
    /// The name of the program, without a zero where it has just room.
    pub fn name(self) -> [u8; 64] {
        let mut name = [0; 64];
        self.memory.read(self.at + offset_of!(layout::Unreached, name) as u64, &mut name);
        name
    }
}

impl Packet<'_> {
    /// The name of the thread.
    pub fn procname(self) -> [u8; 16] {
        read_name(self.memory, self.at + offset_of!(layout::Packet, procname) as u64)
    }
}

impl<'a> Chunk<'a> {
    /// The packet of the chunk.
    pub const fn packet(self) -> Packet<'a> {
        Packet::new(self.memory, self.at + offset_of!(layout::Chunk, packet) as u64)
    }

    /// Where the records begin in the file.
    pub const fn offset(self) -> u64 {
        self.at
    }
}

impl<'a> Ledger<'a> {
    /// The place of a spare chunk.
    pub fn spare(self, number: u32) -> &'a AtomicU32 {
        let place = u64::from(number % layout::MOST_RING_CHUNKS) * 4;
        self.memory.u32(self.at + offset_of!(layout::Ledger, spares) as u64 + place)
    }
}
