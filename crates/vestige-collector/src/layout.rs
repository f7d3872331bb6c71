//! The layout of an arena: what the tracer, in C, and the collector agree on.
//!
//! Numbers have the byte order of the machine. Structures that programs write to are
//! *shared*; all others they can only read. See `docs/formats/arena.md`.

use std::mem::{offset_of, size_of};

pub use crate::agreement::{
    ArenaChunk as Chunk, ArenaClass as Class, ArenaControl as Control, ArenaLedger as Ledger,
    ArenaShared as Shared, ArenaSlot as Slot, ArenaUnreached as Unreached, Packet,
    ARENA_CLOSED as CLOSED, ARENA_FULL as FULL, ARENA_HANDED_OVER as HANDED_OVER,
    ARENA_MOST_CLASSES as MOST_CLASSES, ARENA_OVERWRITE as OVERWRITE,
    ARENA_RINGS_OVERWRITE as RINGS_OVERWRITE, ARENA_SPARES as MOST_RING_CHUNKS, ARENA_UNREACHED,
    CHUNK_CONTINUED as CONTINUED, CHUNK_CONTINUES as CONTINUES, CHUNK_DOUBTFUL as DOUBTFUL,
    CHUNK_KEEP as KEEP, SLOT_OF_CPU as OF_CPU, UNREACHED_WITHDRAWN,
};
use crate::agreement::{ARENA_ALIGNMENT, ARENA_MAGIC};

/// The first bytes of an arena.
pub const MAGIC: [u8; 8] = *match ARENA_MAGIC.as_bytes().first_chunk() {
    Some(magic) => magic,
    None => panic!("it has eight letters"),
};
/// Regions begin at multiples of this.
pub const REGION: u64 = ARENA_ALIGNMENT as u64;
/// Class texts get memory in such steps.
pub const CLASS_STEP: u32 = 256 << 10;
/// Where the records of a chunk begin.
pub const RECORDS_AT: u32 = size_of::<Chunk>() as u32;
/// The packet header and context in front of the records of a data file.
pub const PACKET_BYTES: u32 = size_of::<Packet>() as u32;
/// The same where the ring is that of a CPU: in place of two IDs and a name it has the CPU's number.
pub const CPU_PACKET_BYTES: u32 = offset_of!(Packet, vpid) as u32 + size_of::<u32>() as u32;
/// The stream classes of the rings of threads, and of CPUs.
pub use crate::agreement::{STREAM_CLASS, STREAM_CLASS_OF_CPUS};
/// More CPUs than that have no rings: their threads write to their own.
pub const MOST_CPU_RINGS: u32 = 512;
/// In the first word of a robust mutex, set by the kernel: its owner has ended.
pub const OWNER_DIED: u32 = 0x4000_0000;

/// A robust, process-shared `pthread_mutex_t`.
pub type Life = [u8; 64];

pub const SLOT_BYTES: u64 = size_of::<Slot>() as u64;
pub const LEDGER_BYTES: u64 = size_of::<Ledger>() as u64;
pub const CLASS_BYTES: u64 = size_of::<Class>() as u64;
pub const CLASS_TABLE_BYTES: u64 = MOST_CLASSES as u64 * CLASS_BYTES;

const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= size_of::<Life>());
