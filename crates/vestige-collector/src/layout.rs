//! The layout of an arena: what the tracer, in C, and the collector agree on.
//!
//! Numbers have the byte order of the machine. Structures that programs write to are
//! *shared*; all others they can only read. See `docs/formats/arena.md`.

use std::mem::{offset_of, size_of};

/// The first bytes of an arena.
pub const MAGIC: [u8; 8] = *b"VESTARN1";
/// Regions begin at multiples of this.
pub const REGION: u64 = 65_536;
/// Event classes that programs can register.
pub const MOST_CLASSES: u32 = 4096;
/// Class texts get memory in such steps.
pub const CLASS_STEP: u32 = 256 << 10;
/// Most chunks that a slot can hold.
pub const MOST_RING_CHUNKS: u32 = 64;
/// Where the records of a chunk begin.
pub const RECORDS_AT: u32 = 192;
/// The packet header and context in front of the records of a data file.
pub const PACKET_BYTES: u32 = 104;

/// In `Control::state`: record nothing more.
pub const CLOSED: u32 = 1;
/// In `Control::state`: the size limit is reached.
pub const FULL: u32 = 2;
/// In `Control::flags`: the recording keeps the newest packets.
pub const OVERWRITE: u32 = 1;
/// In `Chunk::flags`: never taken away in overwrite mode.
pub const KEEP: u32 = 1;
/// In `Chunk::flags`: code that was interrupted may still write here.
pub const DOUBTFUL: u32 = 2;
/// In the first word of a robust mutex, set by the kernel: its owner has ended.
pub const OWNER_DIED: u32 = 0x4000_0000;

/// A robust, process-shared `pthread_mutex_t`.
pub type Life = [u8; 64];

/// At the beginning of the file.
#[repr(C)]
pub struct Control {
    pub magic: [u8; 8],
    pub fingerprint: u64,
    pub uuid: [u8; 16],
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
    pub wait_ns: u64,
    pub state: u32,
    pub progress: u32,
    pub collector_pid: u32,
    pub flags: u32,
    /// From here on the collector's own.
    pub chunks_ready: u32,
    pub slots_ready: u32,
    pub first_class: u32,
    reserved: [u8; 36],
    pub life: Life,
}

/// The beginning of the part that programs write to.
#[repr(C)]
pub struct Shared {
    /// Tag in the upper half, slot in the lower.
    pub free_slots: u64,
    reserved_1: [u8; 56],
    pub free_chunks: u64,
    reserved_2: [u8; 56],
    pub free_chunk_count: u32,
    pub slots_high: u32,
    /// Records lost by threads without a slot.
    pub lost: u64,
    reserved_3: [u8; 48],
    pub doorbell: u32,
    pub asleep: u32,
    reserved_4: [u8; 56],
    pub class_lock: Life,
    pub class_count: u32,
    pub class_text_used: u32,
    /// Bytes of class text that have memory; the collector stores it.
    pub class_text_ready: u32,
}

/// A thread's place.
#[repr(C)]
pub struct Slot {
    pub life: Life,
    /// Number of the chunk in the ring in the upper half, chunk in the lower.
    pub cur: u64,
    pub lost: u64,
    pub first_lost: u64,
    pub last_lost: u64,
    pub taken: u32,
    pub popped: u32,
    pub waiting: u32,
    pub next_free: u32,
    pub claimed: u32,
    pub vpid: u32,
    pub vtid: u32,
    pub flags: u32,
    pub pid_namespace: u64,
    pub procname: [u64; 2],
    pub process_start: u64,
    reserved: [u8; 352],
}

/// What the collector notes for a slot.
#[repr(C)]
pub struct Ledger {
    pub consumed: u32,
    pub given: u32,
    pub returned: u32,
    pub generation: u32,
    pub drained_seq: u64,
    pub file_bytes: u64,
    pub instance_id: u64,
    pub packets: u64,
    pub told_lost: u64,
    pub flushed: u32,
    pub file_number: u32,
    pub last_end: u64,
    /// From here to the spares, and behind them: the collector's own.
    pub beside: u64,
    pub ring_number: u64,
    pub ring_bytes: u64,
    pub opened: u32,
    pub redo: u32,
    reserved: [u8; 24],
    pub spares: [u32; MOST_RING_CHUNKS as usize],
    pub copy: [u64; 16],
}

/// The head of a chunk; records follow.
#[repr(C)]
pub struct Chunk {
    pub committed: u32,
    pub owner: u32,
    pub next_free: u32,
    pub prev: u32,
    pub seq: u64,
    pub flags: u32,
    pub discarded: u32,
    pub lost: u64,
    pub first_lost: u64,
    pub last_lost: u64,
    reserved: [u8; 32],
    pub packet: Packet,
}

/// The packet header and context, with the parts that the thread fills.
#[repr(C)]
pub struct Packet {
    unused_1: [u8; 32],
    pub timestamp_begin: u64,
    pub timestamp_end: u64,
    unused_2: [u8; 32],
    pub vpid: u32,
    pub vtid: u32,
    pub procname: [u64; 2],
}

/// A registered event class.
#[repr(C)]
pub struct Class {
    pub digest: [u64; 2],
    /// Counted from the beginning of the texts, which follow the table.
    pub text_at: u32,
    pub text_size: u32,
    reserved: u64,
}

pub const SLOT_BYTES: u64 = size_of::<Slot>() as u64;
pub const LEDGER_BYTES: u64 = size_of::<Ledger>() as u64;
pub const CLASS_BYTES: u64 = size_of::<Class>() as u64;
pub const CLASS_TABLE_BYTES: u64 = MOST_CLASSES as u64 * CLASS_BYTES;

const _: () = {
    assert!(offset_of!(Control, chunk_bytes) == 104);
    assert!(offset_of!(Control, wait_ns) == 120);
    assert!(offset_of!(Control, state) == 128);
    assert!(offset_of!(Control, flags) == 140);
    assert!(offset_of!(Control, life) == 192);
    assert!(size_of::<Control>() == 256);
    assert!(offset_of!(Shared, free_chunks) == 64);
    assert!(offset_of!(Shared, free_chunk_count) == 128);
    assert!(offset_of!(Shared, lost) == 136);
    assert!(offset_of!(Shared, doorbell) == 192);
    assert!(offset_of!(Shared, class_lock) == 256);
    assert!(offset_of!(Shared, class_text_ready) == 328);
    assert!(offset_of!(Slot, cur) == 64);
    assert!(offset_of!(Slot, taken) == 96);
    assert!(offset_of!(Slot, claimed) == 112);
    assert!(offset_of!(Slot, pid_namespace) == 128);
    assert!(offset_of!(Slot, process_start) == 152);
    assert!(size_of::<Slot>() == 512);
    assert!(offset_of!(Ledger, drained_seq) == 16);
    assert!(offset_of!(Ledger, flushed) == 56);
    assert!(offset_of!(Ledger, last_end) == 64);
    assert!(offset_of!(Ledger, spares) == 128);
    assert!(size_of::<Ledger>() == 512);
    assert!(offset_of!(Chunk, seq) == 16);
    assert!(offset_of!(Chunk, discarded) == 28);
    assert!(offset_of!(Chunk, last_lost) == 48);
    assert!(offset_of!(Chunk, packet) == 88);
    assert!(size_of::<Chunk>() == RECORDS_AT as usize);
    assert!(offset_of!(Packet, vpid) == 80);
    assert!(size_of::<Packet>() == PACKET_BYTES as usize);
    assert!(size_of::<Class>() == 32);
    assert!(size_of::<libc::pthread_mutex_t>() <= size_of::<Life>());
};
