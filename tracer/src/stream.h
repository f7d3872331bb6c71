/*
 * A data stream: where one thread writes its event records.
 *
 * The thread has a slot in the arena, and fills one chunk after the other: each is a packet,
 * which the collector writes to a file. Only the thread writes to its chunk, and signal
 * handlers that interrupt it. A record is made in three steps:
 *
 *   1. reserve: move `next` by its size, if no signal handler moved it since it was read;
 *   2. write the bytes;
 *   3. commit: tell by the chunk's `committed`, unless an interrupted record below is not
 *      yet committed. That one commits all behind it, too.
 *
 * So `committed` never covers bytes that are not written, whenever the process dies.
 *
 * A record that is never committed, since a handler jumped out of it, would hide all that
 * come behind. The next hook finds it: its stack is above that of the one that is gone. It
 * may be wrong, since coroutines have stacks anywhere, and a handler may switch from one to
 * another. So a record that was given up may still be written, in its place: the chunk is
 * marked as doubtful, and has no other use for a time.
 */
#ifndef VESTIGE_STREAM_H
#define VESTIGE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../arena/chunk.h"
#include "../include/vestige/tracepoint-abi.h"
#include "clock.h"
#include "cpu.h"
#include "packet.h"
#include "settings.h"

/* In memory that fork() fills with zeros in the child: there, no byte fits, and the slow
 * path finds out that the process is another one. */
struct stream {
	char *next;
	char *limit;
	struct arena_chunk *chunk;
	/* The time of the last record, for the compact header. */
	uint64_t last_time;
	/* Another number in each chunk, and in each process. */
	uint64_t generation;
	/* The record that was reserved when none was pending: where the stack was, its time, and
	 * what pending_word() makes of it, in one store, since code that is interrupted in front
	 * of its reservation stores here, too, when it goes on. */
	const char *pending_stack;
	uint64_t pending_time;
	uint64_t pending;
	/* Records behind it: how many are not yet written, and how many there are. */
	int nested;
	int behind;
	/* Whether it is committed, and they are not, since one is not yet written. */
	bool is_waiting;
	/* Whether the chunk has what all records need to be understood: in overwrite mode, it
	 * stays. It has no room for other records: `limit` is where it ends. */
	bool keeps;
	/* When the packet before ended, or the last record was lost that came after it. */
	uint64_t previous_end;
	struct arena_ring ring;
	uint32_t vpid;
	uint32_t vtid;
	char procname[PROCNAME_SIZE + 1];
	/* See passage.h. */
	struct vestige_passage passage;
};

/* A record that is being written. */
struct record {
	struct stream *stream;
	char *start;
	char *at;
	char *end;
	uint64_t time;
	/* In which chunk it is, and whether another record was pending. */
	uint64_t generation;
	bool is_nested;
};

#define HIDDEN __attribute__((visibility("hidden")))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

extern __thread struct stream *stream_of_thread HIDDEN
	__attribute__((tls_model("initial-exec")));

/* Make room for a record in another chunk, or in the first; NULL when it is dropped. */
struct stream *stream_make_room(struct stream *stream, size_t size) HIDDEN
	__attribute__((noinline, cold));
/* In overwrite mode, see to it that the next record comes into a chunk that stays. */
bool stream_keep(struct stream *stream, size_t size) HIDDEN __attribute__((noinline, cold));
/* Let nothing come behind a record in its chunk, but what is kept. */
void stream_limit(struct stream *stream, uint64_t generation, char *end) HIDDEN
	__attribute__((noinline, cold));
/* Commit the records behind one that is committed. */
void pending_commit_behind(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* Before a record is reserved while another is pending. Find out whether that one was
 * abandoned, and put a filler in its place if so. Returns the generation, or another number
 * where the record must have another chunk. */
uint64_t pending_nest(struct stream *stream, const char *stack) HIDDEN
	__attribute__((noinline, cold));
/* That record was not reserved after all. */
void pending_unnest(struct stream *stream, uint64_t generation) HIDDEN
	__attribute__((noinline, cold));
/* Commit a record that was reserved while another was pending. */
void pending_commit(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* A record that was given up has been written in its place after all. */
void pending_return(const struct record *record) HIDDEN __attribute__((noinline, cold));
/* Before fork(), and in the child, in the only thread that it has. */
void stream_before_fork(void) HIDDEN;
void stream_after_fork(void) HIDDEN;
/* Let the thread have no stream any more: what it does is counted as lost. */
void stream_leave(void) HIDDEN;
/* The thread has another name. */
void stream_rename(const char *name) HIDDEN;
/* Before the program filters its system calls: make what new threads will need. */
void streams_confine(void) HIDDEN;
/* Make what streams need, once; false when there is no memory. */
bool streams_start(void) HIDDEN;
/* Let an empty packet begin with a record of an earlier time. */
void stream_begin_earlier(struct stream *stream, uint64_t time) HIDDEN;
/* Count a record that found no place. */
void stream_count_lost(struct stream *stream) HIDDEN __attribute__((noinline, cold));

/* Set *cell to `new` if it is still `old`: safe against signal handlers of this thread, and
 * without the price of being safe against other threads. */
static inline bool local_compare_exchange(volatile uint64_t *cell, uint64_t old, uint64_t new)
{
#if defined(__x86_64__)
	uint64_t seen = old;

	__asm__ volatile("cmpxchgq %2, %1"
			 : "+a"(seen), "+m"(*cell)
			 : "r"(new)
			 : "memory", "cc");
	return seen == old;
#else
	return __atomic_compare_exchange_n(cell, &old, new, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

/* The same for `committed`. */
static inline bool local_commit(volatile uint32_t *cell, uint32_t old, uint32_t new)
{
#if defined(__x86_64__)
	uint32_t seen = old;

	__asm__ volatile("cmpxchgl %2, %1"
			 : "+a"(seen), "+m"(*cell)
			 : "r"(new)
			 : "memory", "cc");
	return seen == old;
#else
	return __atomic_compare_exchange_n(cell, &old, new, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
#endif
}

static inline volatile uint64_t *address_of_next(struct stream *stream)
{
	_Static_assert(sizeof(stream->next) == sizeof(uint64_t), "64-bit machines only");
	return (volatile uint64_t *) (void *) &stream->next;
}

static inline void compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

static inline __attribute__((always_inline)) const char *stack_pointer(void)
{
#if defined(__x86_64__)
	const char *stack;

	__asm__ volatile("mov %%rsp, %0" : "=r"(stack));
	return stack;
#else
	return __builtin_frame_address(0);
#endif
}

/* Before a store that makes others valid: the collector may run on another processor.
 * x86 shows stores in their order. */
static inline void publish_barrier(void)
{
#if defined(__x86_64__)
	compiler_barrier();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

static inline uint64_t bytes_before(const struct arena_chunk *chunk, const char *place)
{
	return (uint64_t) (place - (const char *) chunk);
}

/* Where the records of a chunk begin. */
static inline char *chunk_start(struct arena_chunk *chunk)
{
	return (char *) (chunk + 1);
}

#define PENDING_SIZE_BITS 11
#define PENDING_OFFSET_BITS 26

/* Time, place and size of a record, as far as there is room for them; 0 when it is larger
 * than those that handlers interrupt. */
static inline uint64_t pending_word(uint64_t time, size_t offset, size_t size)
{
	if (size >= 1u << PENDING_SIZE_BITS)
		return 0;
	return time << (PENDING_OFFSET_BITS + PENDING_SIZE_BITS) |
		((uint64_t) offset & ((1u << PENDING_OFFSET_BITS) - 1)) << PENDING_SIZE_BITS |
		size;
}

static inline void write_bytes(struct record *record, const void *bytes, size_t size)
{
	memcpy(record->at, bytes, size);
	record->at += size;
}

static inline void write_u64(struct record *record, uint64_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_u32(struct record *record, uint32_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_u8(struct record *record, uint8_t value)
{
	write_bytes(record, &value, sizeof(value));
}

#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline void write_u16(struct record *record, uint16_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_place(struct record *record, const void *place)
{
	record->at = encode_place(record->at, (uintptr_t) place);
}

/* Write those of MORE_CONTEXTS that are asked for. */
void write_more_contexts(struct record *record) HIDDEN __attribute__((noinline, cold));

static inline void write_contexts(struct record *record, const void *ip)
{
	const unsigned int contexts = settings.contexts;

	if (contexts & CONTEXT_IP)
		write_place(record, ip);
	if (contexts & CONTEXT_VPID)
		write_u32(record, record->stream->vpid);
	if (contexts & CONTEXT_VTID)
		write_u32(record, record->stream->vtid);
	if (contexts & CONTEXT_PROCNAME)
		write_bytes(record, record->stream->procname, sizeof(record->stream->procname));
	if (contexts & CONTEXT_CPU_ID)
		write_u16(record, cpu_read());
	if (UNLIKELY(contexts & MORE_CONTEXTS))
		write_more_contexts(record);
}

/* The compact header, `ip` and `vpid`, 14 bytes: what records have by default, in two stores
 * that overlap instead of four. */
static inline void write_usual_start(struct record *record, uint32_t header, const void *ip)
{
	const uint64_t place = (uintptr_t) ip & ((1ull << 48) - 1);
	const uint64_t first = header | place << 32;
	const uint64_t rest = place >> 16 | (uint64_t) record->stream->vpid << 32;

	memcpy(record->at, &first, sizeof(first));
	memcpy(record->at + USUAL_START_SIZE - sizeof(rest), &rest, sizeof(rest));
	record->at += USUAL_START_SIZE;
}

/*
 * Reserve a record and write its header and contexts. It has the present time, or an earlier
 * one that is not before that of the record before.
 *
 * Always inlined, so that sizes, classes and whether there is a time are constants where it
 * is called.
 */
static inline __attribute__((always_inline)) bool
record_begin_at(struct record *record, uint32_t class, const void *ip, size_t payload,
		uint64_t earlier)
{
	struct stream *stream = stream_of_thread;
	const size_t body = settings.context_size + payload;
	const char *stack = stack_pointer();
	/* Which object is where must outlive the calls that it tells about. */
	const bool is_kept =
		class > EVENT_EXIT && class <= EVENT_PYTHON_CODE && settings.is_overwriting;
	size_t header;
	uint64_t generation;
	bool is_nested;
	char *start;
	uint64_t time;
	uint64_t last;

	if (UNLIKELY(!stream)) {
		stream = stream_make_room(NULL, EXTENDED_HEADER_SIZE + body);
		if (!stream)
			return false;
	}
	for (;;) {
		if (earlier)
			stream_begin_earlier(stream, earlier);
		if (is_kept && !stream_keep(stream, EXTENDED_HEADER_SIZE + body))
			return false;
		generation = *(volatile uint64_t *) &stream->generation;
		start = *(char *volatile *) &stream->next;
		last = *(volatile uint64_t *) &stream->last_time;
		time = !earlier ? clock_read() : earlier > last ? earlier : last;
		/* Also when the time is before the last one, as a huge difference. */
		header = UNLIKELY(time - last >= 1u << HEADER_TIME_BITS || class >= HEADER_EXTENDED)
			? EXTENDED_HEADER_SIZE
			: COMPACT_HEADER_SIZE;
		/* The limit of a chunk that stays may lie below. */
		if (UNLIKELY(stream->limit - start < (ptrdiff_t) (header + body))) {
			if (!stream_make_room(stream, EXTENDED_HEADER_SIZE + body))
				return false;
			stream = stream_of_thread;
			continue;
		}
		if (LIKELY(stream->chunk->committed == bytes_before(stream->chunk, start))) {
			stream->pending_stack = stack;
			stream->pending_time = time;
			stream->pending = pending_word(
				time, (size_t) (start - (char *) stream->chunk), header + body);
			is_nested = false;
		} else {
			const uint64_t present = pending_nest(stream, stack);

			if (present != generation) {
				pending_unnest(stream, present);
				continue;
			}
			is_nested = true;
		}
		compiler_barrier();
		if (LIKELY(local_compare_exchange(address_of_next(stream), (uintptr_t) start,
						  (uintptr_t) start + header + body)))
			break;
		if (is_nested)
			pending_unnest(stream, generation);
	}
	if (UNLIKELY(*(volatile uint64_t *) &stream->generation != generation) &&
	    bytes_before(stream->chunk, start) < arena.chunk_bytes) {
		/* Handlers filled chunks since the time was read, this one among them, up to this
		 * place. In a chunk that is complete, the record was given up, and keeps the time
		 * that its filler has. */
		generation = stream->generation;
		time = clock_read();
		if (time - stream->last_time >= 1u << HEADER_TIME_BITS)
			time = stream->last_time;
	}
	if (is_kept)
		stream_limit(stream, generation, start + header + body);
	/* If a handler has gone on to another chunk, an earlier time does no harm there. */
	stream->last_time = time;
	record->stream = stream;
	record->start = start;
	record->at = start;
	record->end = start + header + body;
	record->time = time;
	record->generation = generation;
	record->is_nested = is_nested;
	if (UNLIKELY(header != COMPACT_HEADER_SIZE)) {
		write_u8(record, HEADER_EXTENDED);
		write_u32(record, class);
		write_u64(record, time);
		write_contexts(record, ip);
	} else if (IS_LITTLE_ENDIAN && LIKELY(settings.contexts == USUAL_CONTEXTS)) {
		write_usual_start(record, compact_header(class, time), ip);
	} else {
		write_u32(record, compact_header(class, time));
		if (settings.context_size)
			write_contexts(record, ip);
	}
	return true;
}

static inline __attribute__((always_inline)) bool
record_begin(struct record *record, uint32_t class, const void *ip, size_t payload)
{
	return record_begin_at(record, class, ip, payload, 0);
}

static inline __attribute__((always_inline)) void record_commit(struct record *record)
{
	struct stream *stream = record->stream;
	struct arena_chunk *chunk = stream->chunk;

	if (UNLIKELY(record->is_nested)) {
		pending_commit(record);
		return;
	}
	if (LIKELY(chunk->committed == bytes_before(chunk, record->start))) {
		chunk->packet.timestamp_end = record->time;
		publish_barrier();
		/* A handler may give the record up even here. */
		if (LIKELY(local_commit(&chunk->committed,
					(uint32_t) bytes_before(chunk, record->start),
					(uint32_t) bytes_before(chunk, record->end)))) {
			if (UNLIKELY(*(char *volatile *) &stream->next != record->end))
				pending_commit_behind(record);
			return;
		}
	}
	pending_return(record);
}

#endif
