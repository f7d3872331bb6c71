//! The layout of an arena, which tracer and collector agree on. Made by
//! `tools/make_agreement.py` from `tracer/agreement`: change it there, then say
//! `make agreement`.

pub const ARENA_MAGIC: &str = "VESTARN1";
/// All parts begin at multiples of it.
pub const ARENA_ALIGNMENT: u32 = 65536;
/// Most chunks of a slot.
pub const ARENA_SPARES: u32 = 64;
pub const ARENA_MOST_CLASSES: u32 = 4096;
/// Programs that cannot be recorded, until the collector has read of them.
pub const ARENA_UNREACHED: u32 = 32;
/// Of the rings of threads.
pub const STREAM_CLASS: u32 = 0;
pub const STREAM_CLASS_OF_CPUS: u32 = 1;
/// In place of the class, which follows in 32 bits, with all of the time.
pub const HEADER_EXTENDED: u32 = 255;
/// That a compact event header can tell.
pub const COMPACT_TIMES: u32 = 16777216;
pub const EVENT_DUMP_START: u32 = 4;
pub const EVENT_DUMP_PROCNAME: u32 = 5;
pub const EVENT_DUMP_BIN_INFO: u32 = 6;
pub const EVENT_DUMP_BUILD_ID: u32 = 7;
pub const EVENT_DUMP_DEBUG_LINK: u32 = 8;
pub const EVENT_DUMP_END: u32 = 9;
/// Nothing more is recorded.
pub const ARENA_CLOSED: u32 = 1;
/// The recording has reached its size: what finds no room is dropped at once.
pub const ARENA_FULL: u32 = 2;
/// The oldest packets make room for new ones.
pub const ARENA_OVERWRITE: u32 = 1;
/// The collector has stopped, and another one is about to begin.
pub const ARENA_HANDED_OVER: u32 = 2;
/// A ring that is full gives up its oldest chunk.
pub const ARENA_RINGS_OVERWRITE: u32 = 4;
/// No thread's: all threads on a CPU, which is its `vtid`, write to its ring.
pub const SLOT_OF_CPU: u32 = 1;
/// Overwrite mode takes others away.
pub const CHUNK_KEEP: u32 = 1;
/// An interrupted record was completed by another one, and may be written here once more: no other
/// thread should have the chunk soon.
pub const CHUNK_DOUBTFUL: u32 = 2;
/// The record goes on in the next chunk, and the packet with it.
pub const CHUNK_CONTINUES: u32 = 4;
/// It begins with the rest of that of the chunk before.
pub const CHUNK_CONTINUED: u32 = 8;
/// It was not started: what was last told of the process does not hold.
pub const UNREACHED_WITHDRAWN: u32 = 0;
/// Below its root directory the tracer's libraries are not there.
pub const UNREACHED_ELSEWHERE: u32 = 1;
/// It has no dynamic linker.
pub const UNREACHED_STATIC: u32 = 2;
/// It runs with the rights of another user.
pub const UNREACHED_USER: u32 = 3;
/// The same, of another group.
pub const UNREACHED_GROUP: u32 = 4;
/// Its file gives it capabilities.
pub const UNREACHED_CAPABILITIES: u32 = 5;
/// It is for another machine, or another size of words.
pub const UNREACHED_MACHINE: u32 = 6;
/// It has another C library.
pub const UNREACHED_LIBRARY: u32 = 7;
/// Its environment lacks the tracer, and is too long to be changed.
pub const UNREACHED_ENVIRONMENT: u32 = 8;
/// It cannot get at the arena where it is.
pub const UNREACHED_MEMORY: u32 = 9;
/// In a request: it is the program itself.
pub const PLAN_OF_PROGRAM: u32 = 1;
/// No request: a word that says why an object is left alone, a space, its name.
pub const PLAN_REFUSED: u32 = 2;
/// The answer where there is nothing to do.
pub const PLAN_NOTHING: &str = "-";

/// The packet header and the packet context. All sizes are in bits, as CTF has them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Packet {
    pub magic: u32,
    pub uuid: [u8; 16],
    pub stream_id: u32,
    pub stream_instance_id: u64,
    pub timestamp_begin: u64,
    /// Up to date after each record; the collector fills what follows.
    pub timestamp_end: u64,
    pub content_size: u64,
    pub packet_size: u64,
    pub packet_seq_num: u64,
    pub events_discarded: u64,
    pub vpid: u32,
    pub vtid: u32,
    pub procname: [u8; 16],
}

const _: () = {
    assert!(core::mem::offset_of!(Packet, magic) == 0);
    assert!(core::mem::offset_of!(Packet, uuid) == 4);
    assert!(core::mem::offset_of!(Packet, stream_id) == 20);
    assert!(core::mem::offset_of!(Packet, stream_instance_id) == 24);
    assert!(core::mem::offset_of!(Packet, timestamp_begin) == 32);
    assert!(core::mem::offset_of!(Packet, timestamp_end) == 40);
    assert!(core::mem::offset_of!(Packet, content_size) == 48);
    assert!(core::mem::offset_of!(Packet, packet_size) == 56);
    assert!(core::mem::offset_of!(Packet, packet_seq_num) == 64);
    assert!(core::mem::offset_of!(Packet, events_discarded) == 72);
    assert!(core::mem::offset_of!(Packet, vpid) == 80);
    assert!(core::mem::offset_of!(Packet, vtid) == 84);
    assert!(core::mem::offset_of!(Packet, procname) == 88);
    assert!(size_of::<Packet>() == 104);
};

/// At the beginning of the arena; programs can only read it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaControl {
    pub magic: [u8; 8],
    /// Of this agreement.
    pub fingerprint: u64,
    pub uuid: [u8; 16],
    pub arena_bytes: u64,
    pub shared_at: u64,
    pub ledgers_at: u64,
    pub rules_at: u64,
    /// 0: no rules.
    pub rules_bytes: u64,
    pub slots_at: u64,
    pub classes_at: u64,
    /// Of the text after the table of classes.
    pub classes_bytes: u64,
    pub chunks_at: u64,
    pub chunk_bytes: u32,
    pub chunk_count: u32,
    pub slot_count: u32,
    /// How many chunks a slot may hold.
    pub ring_chunks: u32,
    /// How long a thread waits while the collector makes no progress.
    pub wait_ns: u64,
    /// Of enum arena_state.
    pub state: u32,
    /// How many chunks were drained in the whole arena.
    pub progress: u32,
    pub collector_pid: u32,
    /// Of enum arena_flags.
    pub flags: u32,
    /// From here on the collector's own.
    pub chunks_ready: u32,
    pub slots_ready: u32,
    /// For programs as well: the ID of the first class in the table, another one in each arena of a
    /// recording.
    pub first_class: u32,
    /// So many of the first slots have the rings of CPUs; 0: there are none.
    pub cpu_rings: u32,
    pub max_bytes: u64,
    /// So many of all chunks get memory only as threads have slots: one for each.
    pub thread_chunks: u32,
    pub unused: [u8; 20],
    /// Held by the collector.
    pub life: [u8; 64],
    /// The collector's own: where one that takes over goes on to serve, name and token.
    pub socket: [u64; 4],
    /// From here on for those who find the arena when its collector was killed: an inode; 0:
    /// unknown.
    pub mount_namespace: u64,
    /// Of the directory of the trace: where it is, and its path.
    pub directory_device: u64,
    pub directory_inode: u64,
    /// Of the root directory below which the path is that: chroot(2) makes no mount namespace.
    pub root_device: u64,
    pub root_inode: u64,
    pub directory: [u8; 3072],
    pub rest: [u8; 696],
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaControl, magic) == 0);
    assert!(core::mem::offset_of!(ArenaControl, fingerprint) == 8);
    assert!(core::mem::offset_of!(ArenaControl, uuid) == 16);
    assert!(core::mem::offset_of!(ArenaControl, arena_bytes) == 32);
    assert!(core::mem::offset_of!(ArenaControl, shared_at) == 40);
    assert!(core::mem::offset_of!(ArenaControl, ledgers_at) == 48);
    assert!(core::mem::offset_of!(ArenaControl, rules_at) == 56);
    assert!(core::mem::offset_of!(ArenaControl, rules_bytes) == 64);
    assert!(core::mem::offset_of!(ArenaControl, slots_at) == 72);
    assert!(core::mem::offset_of!(ArenaControl, classes_at) == 80);
    assert!(core::mem::offset_of!(ArenaControl, classes_bytes) == 88);
    assert!(core::mem::offset_of!(ArenaControl, chunks_at) == 96);
    assert!(core::mem::offset_of!(ArenaControl, chunk_bytes) == 104);
    assert!(core::mem::offset_of!(ArenaControl, chunk_count) == 108);
    assert!(core::mem::offset_of!(ArenaControl, slot_count) == 112);
    assert!(core::mem::offset_of!(ArenaControl, ring_chunks) == 116);
    assert!(core::mem::offset_of!(ArenaControl, wait_ns) == 120);
    assert!(core::mem::offset_of!(ArenaControl, state) == 128);
    assert!(core::mem::offset_of!(ArenaControl, progress) == 132);
    assert!(core::mem::offset_of!(ArenaControl, collector_pid) == 136);
    assert!(core::mem::offset_of!(ArenaControl, flags) == 140);
    assert!(core::mem::offset_of!(ArenaControl, chunks_ready) == 144);
    assert!(core::mem::offset_of!(ArenaControl, slots_ready) == 148);
    assert!(core::mem::offset_of!(ArenaControl, first_class) == 152);
    assert!(core::mem::offset_of!(ArenaControl, cpu_rings) == 156);
    assert!(core::mem::offset_of!(ArenaControl, max_bytes) == 160);
    assert!(core::mem::offset_of!(ArenaControl, thread_chunks) == 168);
    assert!(core::mem::offset_of!(ArenaControl, unused) == 172);
    assert!(core::mem::offset_of!(ArenaControl, life) == 192);
    assert!(core::mem::offset_of!(ArenaControl, socket) == 256);
    assert!(core::mem::offset_of!(ArenaControl, mount_namespace) == 288);
    assert!(core::mem::offset_of!(ArenaControl, directory_device) == 296);
    assert!(core::mem::offset_of!(ArenaControl, directory_inode) == 304);
    assert!(core::mem::offset_of!(ArenaControl, root_device) == 312);
    assert!(core::mem::offset_of!(ArenaControl, root_inode) == 320);
    assert!(core::mem::offset_of!(ArenaControl, directory) == 328);
    assert!(core::mem::offset_of!(ArenaControl, rest) == 3400);
    assert!(size_of::<ArenaControl>() == 4096);
};

/// A program that will not be recorded, as whoever starts it tells.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaUnreached {
    /// How many were told before it, and 1, once what follows is there.
    pub number: u32,
    /// Of enum unreached_reason.
    pub reason: u32,
    /// Its ID, as who tells of it sees it.
    pub process: u32,
    /// Where its own ID is not known, which is 0 then: that of who starts it.
    pub parent: u32,
    /// As in a slot.
    pub pid_namespace: u64,
    pub name: [u8; 64],
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaUnreached, number) == 0);
    assert!(core::mem::offset_of!(ArenaUnreached, reason) == 4);
    assert!(core::mem::offset_of!(ArenaUnreached, process) == 8);
    assert!(core::mem::offset_of!(ArenaUnreached, parent) == 12);
    assert!(core::mem::offset_of!(ArenaUnreached, pid_namespace) == 16);
    assert!(core::mem::offset_of!(ArenaUnreached, name) == 24);
    assert!(size_of::<ArenaUnreached>() == 88);
};

/// At the beginning of what programs write to.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaShared {
    /// Stacks: a tag that grows with each change in the upper half, the first number in the lower
    /// one; `next_free` leads on.
    pub free_slots: u64,
    pub unused_1: [u8; 56],
    pub free_chunks: u64,
    pub unused_2: [u8; 56],
    pub free_chunk_count: u32,
    /// The highest slot that was claimed; one that dies while it claims may lack.
    pub slots_high: u32,
    /// Records lost by threads without a slot.
    pub lost: u64,
    /// Threads that wait for a slot: on the number in `free_slots`, a futex. Those that are killed
    /// meanwhile stay counted.
    pub slot_waiters: u32,
    pub unused_3: [u8; 44],
    /// Futexes: the collector sleeps on the first if the second is set.
    pub doorbell: u32,
    pub asleep: u32,
    pub unused_4: [u8; 56],
    pub class_lock: [u8; 64],
    /// Stored last, when a class is complete.
    pub class_count: u32,
    pub class_text_used: u32,
    /// How much of the text has memory; the collector's.
    pub class_text_ready: u32,
    /// How many programs were told of that cannot be recorded, ever.
    pub unreached_count: u32,
    /// The last of those: number n is at n % ARENA_UNREACHED.
    pub unreached: [ArenaUnreached; 32],
    pub rest: [u8; 944],
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaShared, free_slots) == 0);
    assert!(core::mem::offset_of!(ArenaShared, unused_1) == 8);
    assert!(core::mem::offset_of!(ArenaShared, free_chunks) == 64);
    assert!(core::mem::offset_of!(ArenaShared, unused_2) == 72);
    assert!(core::mem::offset_of!(ArenaShared, free_chunk_count) == 128);
    assert!(core::mem::offset_of!(ArenaShared, slots_high) == 132);
    assert!(core::mem::offset_of!(ArenaShared, lost) == 136);
    assert!(core::mem::offset_of!(ArenaShared, slot_waiters) == 144);
    assert!(core::mem::offset_of!(ArenaShared, unused_3) == 148);
    assert!(core::mem::offset_of!(ArenaShared, doorbell) == 192);
    assert!(core::mem::offset_of!(ArenaShared, asleep) == 196);
    assert!(core::mem::offset_of!(ArenaShared, unused_4) == 200);
    assert!(core::mem::offset_of!(ArenaShared, class_lock) == 256);
    assert!(core::mem::offset_of!(ArenaShared, class_count) == 320);
    assert!(core::mem::offset_of!(ArenaShared, class_text_used) == 324);
    assert!(core::mem::offset_of!(ArenaShared, class_text_ready) == 328);
    assert!(core::mem::offset_of!(ArenaShared, unreached_count) == 332);
    assert!(core::mem::offset_of!(ArenaShared, unreached) == 336);
    assert!(core::mem::offset_of!(ArenaShared, rest) == 3152);
    assert!(size_of::<ArenaShared>() == 4096);
};

/// A thread's place.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaSlot {
    pub life: [u8; 64],
    /// The sequence number of the present chunk in the upper half, its number in the lower one: as
    /// one word, it only grows.
    pub cur: u64,
    /// Records lost, and when.
    pub lost: u64,
    pub first_lost: u64,
    pub last_lost: u64,
    /// Chunks taken from the ledger's spares, and from the pool, ever.
    pub taken: u32,
    pub popped: u32,
    /// Whether the thread waits on the ledger's `consumed`.
    pub waiting: u32,
    pub next_free: u32,
    /// Set when what follows is there.
    pub claimed: u32,
    pub vpid: u32,
    pub vtid: u32,
    /// Of enum slot_flags.
    pub flags: u32,
    /// An inode; 0 where it is unknown.
    pub pid_namespace: u64,
    pub procname: [u8; 16],
    /// When recording began in the process: that tells namesakes apart.
    pub process_start: u64,
    /// Where rings overwrite: the last chunk that the ring has no more, since the thread has given
    /// it up, or the collector has taken it.
    pub gone: u64,
    pub rest: [u8; 344],
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaSlot, life) == 0);
    assert!(core::mem::offset_of!(ArenaSlot, cur) == 64);
    assert!(core::mem::offset_of!(ArenaSlot, lost) == 72);
    assert!(core::mem::offset_of!(ArenaSlot, first_lost) == 80);
    assert!(core::mem::offset_of!(ArenaSlot, last_lost) == 88);
    assert!(core::mem::offset_of!(ArenaSlot, taken) == 96);
    assert!(core::mem::offset_of!(ArenaSlot, popped) == 100);
    assert!(core::mem::offset_of!(ArenaSlot, waiting) == 104);
    assert!(core::mem::offset_of!(ArenaSlot, next_free) == 108);
    assert!(core::mem::offset_of!(ArenaSlot, claimed) == 112);
    assert!(core::mem::offset_of!(ArenaSlot, vpid) == 116);
    assert!(core::mem::offset_of!(ArenaSlot, vtid) == 120);
    assert!(core::mem::offset_of!(ArenaSlot, flags) == 124);
    assert!(core::mem::offset_of!(ArenaSlot, pid_namespace) == 128);
    assert!(core::mem::offset_of!(ArenaSlot, procname) == 136);
    assert!(core::mem::offset_of!(ArenaSlot, process_start) == 152);
    assert!(core::mem::offset_of!(ArenaSlot, gone) == 160);
    assert!(core::mem::offset_of!(ArenaSlot, rest) == 168);
    assert!(size_of::<ArenaSlot>() == 512);
};

/// What the collector notes for a slot; programs can only read it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaLedger {
    /// A futex: chunks of the slot drained, ever.
    pub consumed: u32,
    /// Those that came back as spares, and those that went to the pool, ever.
    pub given: u32,
    pub returned: u32,
    /// How often the slot was used.
    pub generation: u32,
    /// The last chunk that is wholly in a file. How much of a file that is, the collector notes
    /// where no program can write.
    pub drained_seq: u64,
    /// Where rings overwrite, and the collector's own: the first and the last of the chunks that it
    /// took, or was about to.
    pub taken_from: u64,
    pub taken_to: u64,
    pub unused: [u8; 88],
    /// The nth chunk that was given is at n % ARENA_SPARES.
    pub spares: [u32; 64],
    pub rest: [u8; 128],
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaLedger, consumed) == 0);
    assert!(core::mem::offset_of!(ArenaLedger, given) == 4);
    assert!(core::mem::offset_of!(ArenaLedger, returned) == 8);
    assert!(core::mem::offset_of!(ArenaLedger, generation) == 12);
    assert!(core::mem::offset_of!(ArenaLedger, drained_seq) == 16);
    assert!(core::mem::offset_of!(ArenaLedger, taken_from) == 24);
    assert!(core::mem::offset_of!(ArenaLedger, taken_to) == 32);
    assert!(core::mem::offset_of!(ArenaLedger, unused) == 40);
    assert!(core::mem::offset_of!(ArenaLedger, spares) == 128);
    assert!(core::mem::offset_of!(ArenaLedger, rest) == 384);
    assert!(size_of::<ArenaLedger>() == 512);
};

/// The head of a chunk.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaChunk {
    /// Bytes from the chunk's start up to which all records are whole: 0 while it is not in use,
    /// the size of this structure when it is empty.
    pub committed: u32,
    /// In the ring of a CPU: the time of the last record, without the bits that compact headers
    /// have. One word with `committed`.
    pub epoch: u32,
    pub next_free: u32,
    /// The chunk that the slot filled before, or 0.
    pub prev: u32,
    /// 1 and up, in each use of a slot.
    pub seq: u64,
    /// Of enum chunk_flags.
    pub flags: u32,
    /// A slot, or 0.
    pub owner: u32,
    /// The slot's losses when the chunk was taken into use, and when those were that came since the
    /// chunk before; 0: none came.
    pub lost: u64,
    pub first_lost: u64,
    pub last_lost: u64,
    /// The packet does not end before this. Code that goes on with a record that another completed
    /// may store an earlier time, in a chunk that is complete.
    pub least_end: u64,
    /// In the ring of a thread: what `committed` of the chunk before was when the thread left it.
    /// If it is less later, somebody else has changed it.
    pub before: u32,
    pub unused: [u8; 20],
    /// The thread fills the times, the IDs and the name, the collector all of it, in a copy.
    /// Records follow.
    pub packet: Packet,
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaChunk, committed) == 0);
    assert!(core::mem::offset_of!(ArenaChunk, epoch) == 4);
    assert!(core::mem::offset_of!(ArenaChunk, next_free) == 8);
    assert!(core::mem::offset_of!(ArenaChunk, prev) == 12);
    assert!(core::mem::offset_of!(ArenaChunk, seq) == 16);
    assert!(core::mem::offset_of!(ArenaChunk, flags) == 24);
    assert!(core::mem::offset_of!(ArenaChunk, owner) == 28);
    assert!(core::mem::offset_of!(ArenaChunk, lost) == 32);
    assert!(core::mem::offset_of!(ArenaChunk, first_lost) == 40);
    assert!(core::mem::offset_of!(ArenaChunk, last_lost) == 48);
    assert!(core::mem::offset_of!(ArenaChunk, least_end) == 56);
    assert!(core::mem::offset_of!(ArenaChunk, before) == 64);
    assert!(core::mem::offset_of!(ArenaChunk, unused) == 68);
    assert!(core::mem::offset_of!(ArenaChunk, packet) == 88);
    assert!(size_of::<ArenaChunk>() == 192);
};

/// An event class that programs have registered.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ArenaClass {
    pub digest: [u64; 2],
    /// In the text after the table.
    pub text_at: u32,
    pub text_size: u32,
    /// Its ID, as it sees it.
    pub process: u32,
    pub unused: u32,
}

const _: () = {
    assert!(core::mem::offset_of!(ArenaClass, digest) == 0);
    assert!(core::mem::offset_of!(ArenaClass, text_at) == 16);
    assert!(core::mem::offset_of!(ArenaClass, text_size) == 20);
    assert!(core::mem::offset_of!(ArenaClass, process) == 24);
    assert!(core::mem::offset_of!(ArenaClass, unused) == 28);
    assert!(size_of::<ArenaClass>() == 32);
};

/// How a program asks for a plan.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct PlanRequest {
    /// That of the socket, with all bits the other way.
    pub token: [u8; 16],
    pub flags: u32,
    /// Bytes.
    pub build_id_size: u32,
    /// Of the object.
    pub build_id: [u8; 64],
    /// With a zero at the end.
    pub path: [u8; 4008],
}

const _: () = {
    assert!(core::mem::offset_of!(PlanRequest, token) == 0);
    assert!(core::mem::offset_of!(PlanRequest, flags) == 16);
    assert!(core::mem::offset_of!(PlanRequest, build_id_size) == 20);
    assert!(core::mem::offset_of!(PlanRequest, build_id) == 24);
    assert!(core::mem::offset_of!(PlanRequest, path) == 88);
    assert!(size_of::<PlanRequest>() == 4096);
};
