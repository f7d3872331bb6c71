/*
 * The arena, see docs/formats/arena.md. Made by tools/make_agreement.py from arena.py in this
 * folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_ARENA_H
#define VESTIGE_AGREEMENT_ARENA_H

#include <pthread.h>

#include "agreement.h"

#define ARENA_MAGIC "VESTARN1"
/* All parts begin at multiples of it. */
#define ARENA_ALIGNMENT 65536u
/* Most chunks of a slot. */
#define ARENA_SPARES 64u
#define ARENA_MOST_CLASSES 4096u
/* Programs that cannot be recorded, until the collector has read of them. */
#define ARENA_UNREACHED 32u

/* Bits of the state. */
enum arena_state {
	/* Nothing more is recorded. */
	ARENA_CLOSED = 1,
	/* The recording has reached its size: what finds no room is dropped at once. */
	ARENA_FULL = 2,
};

/* Bits of the flags. */
enum arena_flags {
	/* The oldest packets make room for new ones. */
	ARENA_OVERWRITE = 1,
	/* The collector has stopped, and another one is about to begin. */
	ARENA_HANDED_OVER = 2,
	/* A ring that is full gives up its oldest chunk. */
	ARENA_RINGS_OVERWRITE = 4,
};

/* Bits of a slot's flags. */
enum slot_flags {
	/* No thread's: all threads on a CPU, which is its `vtid`, write to its ring. */
	SLOT_OF_CPU = 1,
};

/* Bits of a chunk's flags. */
enum chunk_flags {
	/* Overwrite mode takes others away. */
	CHUNK_KEEP = 1,
	/* An interrupted record was completed by another one, and may be written here once
	 * more: no other thread should have the chunk soon. */
	CHUNK_DOUBTFUL = 2,
	/* The record goes on in the next chunk, and the packet with it. */
	CHUNK_CONTINUES = 4,
	/* It begins with the rest of that of the chunk before. */
	CHUNK_CONTINUED = 8,
};

/* Why a program that another one starts is not recorded. */
enum unreached_reason {
	/* It was not started: what was last told of the process does not hold. */
	UNREACHED_WITHDRAWN = 0,
	/* Below its root directory the tracer's libraries are not there. */
	UNREACHED_ELSEWHERE = 1,
	/* It has no dynamic linker. */
	UNREACHED_STATIC = 2,
	/* It runs with the rights of another user. */
	UNREACHED_USER = 3,
	/* The same, of another group. */
	UNREACHED_GROUP = 4,
	/* Its file gives it capabilities. */
	UNREACHED_CAPABILITIES = 5,
	/* It is for another machine, or another size of words. */
	UNREACHED_MACHINE = 6,
	/* It has another C library. */
	UNREACHED_LIBRARY = 7,
	/* Its environment lacks the tracer, and is too long to be changed. */
	UNREACHED_ENVIRONMENT = 8,
	/* It cannot get at the arena where it is. */
	UNREACHED_MEMORY = 9,
};

/* A robust mutex, shared by processes, which a thread holds as long as it lives: the kernel
 * sets FUTEX_OWNER_DIED in its first word when the thread ends, however it does. */
union arena_life {
	pthread_mutex_t mutex;
	_Atomic uint32_t word;
	char reserved[64];
};

_Static_assert(sizeof(union arena_life) == 64, "a line of the cache");

/* At the beginning of the arena; programs can only read it. */
struct arena_control {
	char magic[8];
	/* Of this agreement. */
	uint64_t fingerprint;
	uint8_t uuid[16];
	uint64_t arena_bytes;
	uint64_t shared_at;
	uint64_t ledgers_at;
	uint64_t rules_at;
	/* 0: no rules. */
	uint64_t rules_bytes;
	uint64_t slots_at;
	uint64_t classes_at;
	/* Of the text after the table of classes. */
	uint64_t classes_bytes;
	uint64_t chunks_at;
	uint32_t chunk_bytes;
	uint32_t chunk_count;
	uint32_t slot_count;
	/* How many chunks a slot may hold. */
	uint32_t ring_chunks;
	/* How long a thread waits while the collector makes no progress. */
	uint64_t wait_ns;
	/* Of enum arena_state. */
	_Atomic uint32_t state;
	/* How many chunks were drained in the whole arena. */
	_Atomic uint32_t progress;
	uint32_t collector_pid;
	/* Of enum arena_flags. */
	uint32_t flags;
	/* From here on the collector's own. */
	uint32_t chunks_ready;
	uint32_t slots_ready;
	/* For programs as well: the ID of the first class in the table, another one in each
	 * arena of a recording. */
	uint32_t first_class;
	/* So many of the first slots have the rings of CPUs; 0: there are none. */
	uint32_t cpu_rings;
	uint64_t max_bytes;
	/* So many of all chunks get memory only as threads have slots: one for each. */
	uint32_t thread_chunks;
	uint8_t unused[20];
	/* Held by the collector. */
	union arena_life life;
	/* The collector's own: where one that takes over goes on to serve, name and token. */
	uint64_t socket[4];
	/* From here on for those who find the arena when its collector was killed: an inode;
	 * 0: unknown. */
	uint64_t mount_namespace;
	/* Of the directory of the trace: where it is, and its path. */
	uint64_t directory_device;
	uint64_t directory_inode;
	/* Of the root directory below which the path is that: chroot(2) makes no mount
	 * namespace. */
	uint64_t root_device;
	uint64_t root_inode;
	char directory[3072];
	uint8_t rest[696];
};

_Static_assert(offsetof(struct arena_control, magic) == 0, "arena_control.magic");
_Static_assert(offsetof(struct arena_control, fingerprint) == 8, "arena_control.fingerprint");
_Static_assert(offsetof(struct arena_control, uuid) == 16, "arena_control.uuid");
_Static_assert(offsetof(struct arena_control, arena_bytes) == 32, "arena_control.arena_bytes");
_Static_assert(offsetof(struct arena_control, shared_at) == 40, "arena_control.shared_at");
_Static_assert(offsetof(struct arena_control, ledgers_at) == 48, "arena_control.ledgers_at");
_Static_assert(offsetof(struct arena_control, rules_at) == 56, "arena_control.rules_at");
_Static_assert(offsetof(struct arena_control, rules_bytes) == 64, "arena_control.rules_bytes");
_Static_assert(offsetof(struct arena_control, slots_at) == 72, "arena_control.slots_at");
_Static_assert(offsetof(struct arena_control, classes_at) == 80, "arena_control.classes_at");
_Static_assert(offsetof(struct arena_control, classes_bytes) == 88, "arena_control.classes_bytes");
_Static_assert(offsetof(struct arena_control, chunks_at) == 96, "arena_control.chunks_at");
_Static_assert(offsetof(struct arena_control, chunk_bytes) == 104, "arena_control.chunk_bytes");
_Static_assert(offsetof(struct arena_control, chunk_count) == 108, "arena_control.chunk_count");
_Static_assert(offsetof(struct arena_control, slot_count) == 112, "arena_control.slot_count");
_Static_assert(offsetof(struct arena_control, ring_chunks) == 116, "arena_control.ring_chunks");
_Static_assert(offsetof(struct arena_control, wait_ns) == 120, "arena_control.wait_ns");
_Static_assert(offsetof(struct arena_control, state) == 128, "arena_control.state");
_Static_assert(offsetof(struct arena_control, progress) == 132, "arena_control.progress");
_Static_assert(offsetof(struct arena_control, collector_pid) == 136, "arena_control.collector_pid");
_Static_assert(offsetof(struct arena_control, flags) == 140, "arena_control.flags");
_Static_assert(offsetof(struct arena_control, chunks_ready) == 144, "arena_control.chunks_ready");
_Static_assert(offsetof(struct arena_control, slots_ready) == 148, "arena_control.slots_ready");
_Static_assert(offsetof(struct arena_control, first_class) == 152, "arena_control.first_class");
_Static_assert(offsetof(struct arena_control, cpu_rings) == 156, "arena_control.cpu_rings");
_Static_assert(offsetof(struct arena_control, max_bytes) == 160, "arena_control.max_bytes");
_Static_assert(offsetof(struct arena_control, thread_chunks) == 168, "arena_control.thread_chunks");
_Static_assert(offsetof(struct arena_control, unused) == 172, "arena_control.unused");
_Static_assert(offsetof(struct arena_control, life) == 192, "arena_control.life");
_Static_assert(offsetof(struct arena_control, socket) == 256, "arena_control.socket");
_Static_assert(offsetof(struct arena_control, mount_namespace) == 288, "arena_control.mount_namespace");
_Static_assert(offsetof(struct arena_control, directory_device) == 296, "arena_control.directory_device");
_Static_assert(offsetof(struct arena_control, directory_inode) == 304, "arena_control.directory_inode");
_Static_assert(offsetof(struct arena_control, root_device) == 312, "arena_control.root_device");
_Static_assert(offsetof(struct arena_control, root_inode) == 320, "arena_control.root_inode");
_Static_assert(offsetof(struct arena_control, directory) == 328, "arena_control.directory");
_Static_assert(offsetof(struct arena_control, rest) == 3400, "arena_control.rest");
_Static_assert(sizeof(struct arena_control) == 4096, "arena_control");

/* A program that will not be recorded, as whoever starts it tells. */
struct arena_unreached {
	/* How many were told before it, and 1, once what follows is there. */
	_Atomic uint32_t number;
	/* Of enum unreached_reason. */
	uint32_t reason;
	/* Its ID, as who tells of it sees it. */
	uint32_t process;
	/* Where its own ID is not known, which is 0 then: that of who starts it. */
	uint32_t parent;
	/* As in a slot. */
	uint64_t pid_namespace;
	char name[64];
};

_Static_assert(offsetof(struct arena_unreached, number) == 0, "arena_unreached.number");
_Static_assert(offsetof(struct arena_unreached, reason) == 4, "arena_unreached.reason");
_Static_assert(offsetof(struct arena_unreached, process) == 8, "arena_unreached.process");
_Static_assert(offsetof(struct arena_unreached, parent) == 12, "arena_unreached.parent");
_Static_assert(offsetof(struct arena_unreached, pid_namespace) == 16, "arena_unreached.pid_namespace");
_Static_assert(offsetof(struct arena_unreached, name) == 24, "arena_unreached.name");
_Static_assert(sizeof(struct arena_unreached) == 88, "arena_unreached");

/* At the beginning of what programs write to. */
struct arena_shared {
	/* Stacks: a tag that grows with each change in the upper half, the first number in
	 * the lower one; `next_free` leads on. */
	_Atomic uint64_t free_slots;
	uint8_t unused_1[56];
	_Atomic uint64_t free_chunks;
	uint8_t unused_2[56];
	_Atomic uint32_t free_chunk_count;
	/* The highest slot that was claimed; one that dies while it claims may lack. */
	_Atomic uint32_t slots_high;
	/* Records lost by threads without a slot. */
	_Atomic uint64_t lost;
	/* Threads that wait for a slot: on the number in `free_slots`, a futex. Those that
	 * are killed meanwhile stay counted. */
	_Atomic uint32_t slot_waiters;
	uint8_t unused_3[44];
	/* Futexes: the collector sleeps on the first if the second is set. */
	_Atomic uint32_t doorbell;
	_Atomic uint32_t asleep;
	uint8_t unused_4[56];
	union arena_life class_lock;
	/* Stored last, when a class is complete. */
	_Atomic uint32_t class_count;
	uint32_t class_text_used;
	/* How much of the text has memory; the collector's. */
	_Atomic uint32_t class_text_ready;
	/* How many programs were told of that cannot be recorded, ever. */
	_Atomic uint32_t unreached_count;
	/* The last of those: number n is at n % ARENA_UNREACHED. */
	struct arena_unreached unreached[32];
	uint8_t rest[944];
};

_Static_assert(offsetof(struct arena_shared, free_slots) == 0, "arena_shared.free_slots");
_Static_assert(offsetof(struct arena_shared, unused_1) == 8, "arena_shared.unused_1");
_Static_assert(offsetof(struct arena_shared, free_chunks) == 64, "arena_shared.free_chunks");
_Static_assert(offsetof(struct arena_shared, unused_2) == 72, "arena_shared.unused_2");
_Static_assert(offsetof(struct arena_shared, free_chunk_count) == 128, "arena_shared.free_chunk_count");
_Static_assert(offsetof(struct arena_shared, slots_high) == 132, "arena_shared.slots_high");
_Static_assert(offsetof(struct arena_shared, lost) == 136, "arena_shared.lost");
_Static_assert(offsetof(struct arena_shared, slot_waiters) == 144, "arena_shared.slot_waiters");
_Static_assert(offsetof(struct arena_shared, unused_3) == 148, "arena_shared.unused_3");
_Static_assert(offsetof(struct arena_shared, doorbell) == 192, "arena_shared.doorbell");
_Static_assert(offsetof(struct arena_shared, asleep) == 196, "arena_shared.asleep");
_Static_assert(offsetof(struct arena_shared, unused_4) == 200, "arena_shared.unused_4");
_Static_assert(offsetof(struct arena_shared, class_lock) == 256, "arena_shared.class_lock");
_Static_assert(offsetof(struct arena_shared, class_count) == 320, "arena_shared.class_count");
_Static_assert(offsetof(struct arena_shared, class_text_used) == 324, "arena_shared.class_text_used");
_Static_assert(offsetof(struct arena_shared, class_text_ready) == 328, "arena_shared.class_text_ready");
_Static_assert(offsetof(struct arena_shared, unreached_count) == 332, "arena_shared.unreached_count");
_Static_assert(offsetof(struct arena_shared, unreached) == 336, "arena_shared.unreached");
_Static_assert(offsetof(struct arena_shared, rest) == 3152, "arena_shared.rest");
_Static_assert(sizeof(struct arena_shared) == 4096, "arena_shared");

/* A thread's place. */
struct arena_slot {
	union arena_life life;
	/* The sequence number of the present chunk in the upper half, its number in the
	 * lower one: as one word, it only grows. */
	_Atomic uint64_t cur;
	/* Records lost, and when. */
	_Atomic uint64_t lost;
	_Atomic uint64_t first_lost;
	_Atomic uint64_t last_lost;
	/* Chunks taken from the ledger's spares, and from the pool, ever. */
	_Atomic uint32_t taken;
	_Atomic uint32_t popped;
	/* Whether the thread waits on the ledger's `consumed`. */
	_Atomic uint32_t waiting;
	_Atomic uint32_t next_free;
	/* Set when what follows is there. */
	_Atomic uint32_t claimed;
	uint32_t vpid;
	uint32_t vtid;
	/* Of enum slot_flags. */
	uint32_t flags;
	/* An inode; 0 where it is unknown. */
	uint64_t pid_namespace;
	char procname[16];
	/* When recording began in the process: that tells namesakes apart. */
	uint64_t process_start;
	/* Where rings overwrite: the last chunk that the ring has no more, since the thread
	 * has given it up, or the collector has taken it. */
	_Atomic uint64_t gone;
	uint8_t rest[344];
};

_Static_assert(offsetof(struct arena_slot, life) == 0, "arena_slot.life");
_Static_assert(offsetof(struct arena_slot, cur) == 64, "arena_slot.cur");
_Static_assert(offsetof(struct arena_slot, lost) == 72, "arena_slot.lost");
_Static_assert(offsetof(struct arena_slot, first_lost) == 80, "arena_slot.first_lost");
_Static_assert(offsetof(struct arena_slot, last_lost) == 88, "arena_slot.last_lost");
_Static_assert(offsetof(struct arena_slot, taken) == 96, "arena_slot.taken");
_Static_assert(offsetof(struct arena_slot, popped) == 100, "arena_slot.popped");
_Static_assert(offsetof(struct arena_slot, waiting) == 104, "arena_slot.waiting");
_Static_assert(offsetof(struct arena_slot, next_free) == 108, "arena_slot.next_free");
_Static_assert(offsetof(struct arena_slot, claimed) == 112, "arena_slot.claimed");
_Static_assert(offsetof(struct arena_slot, vpid) == 116, "arena_slot.vpid");
_Static_assert(offsetof(struct arena_slot, vtid) == 120, "arena_slot.vtid");
_Static_assert(offsetof(struct arena_slot, flags) == 124, "arena_slot.flags");
_Static_assert(offsetof(struct arena_slot, pid_namespace) == 128, "arena_slot.pid_namespace");
_Static_assert(offsetof(struct arena_slot, procname) == 136, "arena_slot.procname");
_Static_assert(offsetof(struct arena_slot, process_start) == 152, "arena_slot.process_start");
_Static_assert(offsetof(struct arena_slot, gone) == 160, "arena_slot.gone");
_Static_assert(offsetof(struct arena_slot, rest) == 168, "arena_slot.rest");
_Static_assert(sizeof(struct arena_slot) == 512, "arena_slot");

/* What the collector notes for a slot; programs can only read it. */
struct arena_ledger {
	/* A futex: chunks of the slot drained, ever. */
	_Atomic uint32_t consumed;
	/* Those that came back as spares, and those that went to the pool, ever. */
	_Atomic uint32_t given;
	_Atomic uint32_t returned;
	/* How often the slot was used. */
	_Atomic uint32_t generation;
	/* The last chunk that is wholly in a file. How much of a file that is, the collector
	 * notes where no program can write. */
	uint64_t drained_seq;
	/* Where rings overwrite, and the collector's own: the first and the last of the
	 * chunks that it took, or was about to. */
	uint64_t taken_from;
	uint64_t taken_to;
	uint8_t unused[88];
	/* The nth chunk that was given is at n % ARENA_SPARES. */
	_Atomic uint32_t spares[64];
	uint8_t rest[128];
};

_Static_assert(offsetof(struct arena_ledger, consumed) == 0, "arena_ledger.consumed");
_Static_assert(offsetof(struct arena_ledger, given) == 4, "arena_ledger.given");
_Static_assert(offsetof(struct arena_ledger, returned) == 8, "arena_ledger.returned");
_Static_assert(offsetof(struct arena_ledger, generation) == 12, "arena_ledger.generation");
_Static_assert(offsetof(struct arena_ledger, drained_seq) == 16, "arena_ledger.drained_seq");
_Static_assert(offsetof(struct arena_ledger, taken_from) == 24, "arena_ledger.taken_from");
_Static_assert(offsetof(struct arena_ledger, taken_to) == 32, "arena_ledger.taken_to");
_Static_assert(offsetof(struct arena_ledger, unused) == 40, "arena_ledger.unused");
_Static_assert(offsetof(struct arena_ledger, spares) == 128, "arena_ledger.spares");
_Static_assert(offsetof(struct arena_ledger, rest) == 384, "arena_ledger.rest");
_Static_assert(sizeof(struct arena_ledger) == 512, "arena_ledger");

/* The head of a chunk. */
struct arena_chunk {
	/* Bytes from the chunk's start up to which all records are whole: 0 while it is not
	 * in use, the size of this structure when it is empty. */
	volatile uint32_t committed;
	/* In the ring of a CPU: the time of the last record, without the bits that compact
	 * headers have. One word with `committed`. */
	volatile uint32_t epoch;
	_Atomic uint32_t next_free;
	/* The chunk that the slot filled before, or 0. */
	uint32_t prev;
	/* 1 and up, in each use of a slot. */
	_Atomic uint64_t seq;
	/* Of enum chunk_flags. */
	uint32_t flags;
	/* A slot, or 0. */
	_Atomic uint32_t owner;
	/* The slot's losses when the chunk was taken into use, and when those were that came
	 * since the chunk before; 0: none came. */
	uint64_t lost;
	uint64_t first_lost;
	uint64_t last_lost;
	/* The packet does not end before this. Code that goes on with a record that another
	 * completed may store an earlier time, in a chunk that is complete. */
	uint64_t least_end;
	/* In the ring of a thread: what `committed` of the chunk before was when the thread
	 * left it. If it is less later, somebody else has changed it. */
	uint32_t before;
	uint8_t unused[20];
	/* The thread fills the times, the IDs and the name, the collector all of it, in a
	 * copy. Records follow. */
	struct packet packet;
};

_Static_assert(offsetof(struct arena_chunk, committed) == 0, "arena_chunk.committed");
_Static_assert(offsetof(struct arena_chunk, epoch) == 4, "arena_chunk.epoch");
_Static_assert(offsetof(struct arena_chunk, next_free) == 8, "arena_chunk.next_free");
_Static_assert(offsetof(struct arena_chunk, prev) == 12, "arena_chunk.prev");
_Static_assert(offsetof(struct arena_chunk, seq) == 16, "arena_chunk.seq");
_Static_assert(offsetof(struct arena_chunk, flags) == 24, "arena_chunk.flags");
_Static_assert(offsetof(struct arena_chunk, owner) == 28, "arena_chunk.owner");
_Static_assert(offsetof(struct arena_chunk, lost) == 32, "arena_chunk.lost");
_Static_assert(offsetof(struct arena_chunk, first_lost) == 40, "arena_chunk.first_lost");
_Static_assert(offsetof(struct arena_chunk, last_lost) == 48, "arena_chunk.last_lost");
_Static_assert(offsetof(struct arena_chunk, least_end) == 56, "arena_chunk.least_end");
_Static_assert(offsetof(struct arena_chunk, before) == 64, "arena_chunk.before");
_Static_assert(offsetof(struct arena_chunk, unused) == 68, "arena_chunk.unused");
_Static_assert(offsetof(struct arena_chunk, packet) == 88, "arena_chunk.packet");
_Static_assert(sizeof(struct arena_chunk) == 192, "arena_chunk");

/* An event class that programs have registered. */
struct arena_class {
	uint64_t digest[2];
	/* In the text after the table. */
	uint32_t text_at;
	uint32_t text_size;
	/* Its ID, as it sees it. */
	uint32_t process;
	uint32_t unused;
};

_Static_assert(offsetof(struct arena_class, digest) == 0, "arena_class.digest");
_Static_assert(offsetof(struct arena_class, text_at) == 16, "arena_class.text_at");
_Static_assert(offsetof(struct arena_class, text_size) == 20, "arena_class.text_size");
_Static_assert(offsetof(struct arena_class, process) == 24, "arena_class.process");
_Static_assert(offsetof(struct arena_class, unused) == 28, "arena_class.unused");
_Static_assert(sizeof(struct arena_class) == 32, "arena_class");

#endif
