//! The layout of an arena: what the tracer, in C, and the collector agree on.
//!
//! Numbers have the byte order of the machine. Structures that programs write to are
//! *shared*; all others they can only read. See `docs/formats/arena.md`.

use std::mem::size_of;

pub use crate::agreement::{
    ArenaChunk as Chunk, ArenaClass as Class, ArenaControl as Control, ArenaLedger as Ledger,
    ArenaShared as Shared, ArenaSlot as Slot, ArenaUnreached as Unreached, Packet,
    ARENA_CLOSED as CLOSED, ARENA_FULL as FULL, ARENA_HANDED_OVER as HANDED_OVER,
    ARENA_MOST_CLASSES as MOST_CLASSES, ARENA_OVERWRITE as OVERWRITE,
    ARENA_SPARES as MOST_RING_CHUNKS, ARENA_UNREACHED, CHUNK_CONTINUED as CONTINUED,
    CHUNK_CONTINUES as CONTINUES, CHUNK_DOUBTFUL as DOUBTFUL, CHUNK_KEEP as KEEP,
    UNREACHED_WITHDRAWN,
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
/// In the first word of a robust mutex, set by the kernel: its owner has ended.
pub const OWNER_DIED: u32 = 0x4000_0000;

/// A robust, process-shared `pthread_mutex_t`.
pub type Life = [u8; 64];

pub const SLOT_BYTES: u64 = size_of::<Slot>() as u64;
pub const LEDGER_BYTES: u64 = size_of::<Ledger>() as u64;
pub const CLASS_BYTES: u64 = size_of::<Class>() as u64;
pub const CLASS_TABLE_BYTES: u64 = MOST_CLASSES as u64 * CLASS_BYTES;

const _: () = assert!(size_of::<libc::pthread_mutex_t>() <= size_of::<Life>());
