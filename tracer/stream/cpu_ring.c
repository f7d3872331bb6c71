/*
 * The rings of CPUs: how they go on to another chunk.
 *
 * A thread takes a chunk from the pool, prepares it, and lets the ring of its CPU go on to it, which is
 * one store of a restartable sequence. Where it has come to another CPU meanwhile, or another
 * thread was faster, it keeps the chunk for the next time. Until that store, the chunk is the
 * thread's: if it is killed, the collector finds it there.
 */
#include "cpu_ring.h"

#include "../arena/slot.h"
#include "../arena/waiting.h"
#include "../base/cpu.h"
#include "../base/settings.h"
#include "cpu_section.h"
#include "local.h"

/* More often, somebody interrupts each attempt. */
#define MOST_TRIES 1000

bool cpu_rings_are_possible;

/* In how many calls of vfork() the thread is, one in the other. */
static __thread unsigned int left __attribute__((tls_model("initial-exec")));

bool cpu_rings_are_there(uint32_t channel)
{
	return arenas[channel].control->cpu_rings && settings.counter_is_clock &&
		!arenas[channel].is_overwriting && cpu_rings_are_possible;
}

void cpu_rings_find(uint32_t channel, struct stream *stream)
{
	const struct arena *arena = &arenas[channel];
	const uint32_t count = arena->control->cpu_rings;

	if (left || !cpu_rings_are_there(channel) || count > arena->slot_count ||
	    !section_is_possible())
		return;
	stream->cpus = (struct cpu_rings) {
		.first = arena->base + arena->slots_at + offsetof(struct arena_slot, cur),
		.chunks = arena->base + arena->chunks_at - arena->chunk_bytes,
		.chunk_bytes = arena->chunk_bytes,
		.chunk_count = arena->chunk_count,
		.limit = arena->chunk_bytes,
		.count = count,
	};
}

void cpu_rings_leave(void)
{
	left++;
	compiler_barrier();
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (streams_of_thread[channel])
			streams_of_thread[channel]->cpus.count = 0;
}

bool cpu_rings_are_left(void)
{
	return left > 0;
}

void cpu_rings_return(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		struct stream *stream = streams_of_thread[channel];

		/* The child may have had a chunk for records of its own. */
		if (stream) {
			stream->open = NULL;
			stream->announced = NULL;
		}
	}
	compiler_barrier();
	/* Or it has begun before somebody told of such children. */
	if (left)
		left--;
	for (uint32_t channel = 0; channel < CHANNELS; channel++) {
		struct stream *stream = streams_of_thread[channel];

		if (stream && stream->ring.slot && !stream_is_stale(channel, stream))
			cpu_rings_find(channel, stream);
	}
}

static uint32_t present_cpu(void)
{
	return cpu_read();
}

bool cpu_ring_is_here(const struct stream *stream)
{
	return present_cpu() < stream->cpus.count;
}

bool cpu_ring_is_vain(const struct stream *stream)
{
	return stream->cpu_ring.number == present_cpu() + 1 && waiting_is_vain(&stream->cpu_ring);
}

static uint64_t present_chunk(const struct arena_ring *ring)
{
	return atomic_load_explicit(&ring->slot->cur, memory_order_acquire);
}

/* The ring of a CPU, as far as this thread has waited for it. */
static struct arena_ring *find_ring(struct stream *stream, uint32_t cpu)
{
	struct arena_ring *ring = &stream->cpu_ring;

	if (ring->number != cpu + 1)
		*ring = (struct arena_ring) {
			.arena = stream->ring.arena,
			.slot = arena_slot(stream->ring.arena, cpu + 1),
			.ledger = arena_ledger(stream->ring.arena, cpu + 1),
			.number = cpu + 1,
			.is_of_cpu = true,
		};
	ring->chunk = (uint32_t) present_chunk(ring);
	ring->seq = present_chunk(ring) >> 32;
	return ring;
}

static bool has_room(const struct stream *stream, uint64_t cur, size_t size)
{
	const uint32_t number = (uint32_t) cur;

	return arena_has_chunk(stream->ring.arena, number) &&
		arena_chunk(stream->ring.arena, number)->committed + size <= stream->cpus.limit;
}

/* Make a chunk one that a ring can go on to from another one. */
static void prepare(const struct arena *arena, uint32_t number, uint64_t seen)
{
	struct arena_chunk *chunk = arena_chunk(arena, number);

	chunk->prev = (uint32_t) seen;
	chunk->flags = 0;
	chunk->lost = 0;
	chunk->first_lost = 0;
	chunk->last_lost = 0;
	chunk->least_end = 0;
	atomic_store_explicit(&chunk->seq, (seen >> 32) + 1, memory_order_relaxed);
	__atomic_store_n(&chunk->committed, (uint32_t) sizeof(*chunk), __ATOMIC_RELEASE);
}

/* One that the thread has kept, or one from the pool; 0: none. A handler that nobody could block
 * must not find it, too. */
static uint32_t take_chunk(struct stream *stream)
{
	const uint32_t kept = stream->cpu_chunk;

	stream->cpu_chunk = 0;
	return kept ? kept : chunk_pop(&stream->ring);
}

enum cpu_room cpu_ring_make_room(struct stream *stream, size_t size)
{
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		const uint32_t cpu = present_cpu();
		struct arena_ring *ring;
		uint64_t seen;
		uint32_t number;

		if (cpu >= stream->cpus.count)
			return CPU_ROOM_NONE;
		ring = find_ring(stream, cpu);
		seen = present_chunk(ring);
		if (has_room(stream, seen, size))
			return CPU_ROOM_MADE;
		number = chunk_held(ring) < ring->arena->ring_chunks ? take_chunk(stream) : 0;
		if (!number)
			return CPU_ROOM_LATER;
		prepare(ring->arena, number, seen);
		if (!cpu_section_go_on(stream, cpu, number, seen)) {
			stream->cpu_chunk = number;
			continue;
		}
		chunk_leave(&stream->ring);
		waiting_look_ahead(ring);
		return CPU_ROOM_MADE;
	}
	return CPU_ROOM_NONE;
}
