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
#ifndef VESTIGE_STREAM_STATE_H
#define VESTIGE_STREAM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../arena/chunk.h"
#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

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
	/* The same of probes of LTTng-UST: in how many the thread is, one in the other, and in how
	 * many when nobody waited for it any longer. */
	unsigned long nesting;
	unsigned long nesting_given_up;
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

extern __thread struct stream *stream_of_thread HIDDEN __attribute__((tls_model("initial-exec")));

/* Set *cell to `new` if it is still `old`: safe against signal handlers of this thread, and
 * without the price of being safe against other threads. */
static inline bool local_compare_exchange(volatile uint64_t *cell, uint64_t old, uint64_t new)
{
#if defined(__x86_64__)
	uint64_t seen = old;

	__asm__ volatile("cmpxchgq %2, %1" : "+a"(seen), "+m"(*cell) : "r"(new) : "memory", "cc");
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

	__asm__ volatile("cmpxchgl %2, %1" : "+a"(seen), "+m"(*cell) : "r"(new) : "memory", "cc");
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

static INLINED const char *stack_pointer(void)
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

#endif
