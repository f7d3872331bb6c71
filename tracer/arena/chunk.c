/* Taking chunks, and filling one after the other. */
#include "chunk.h"

#include "stack.h"

static _Atomic uint32_t *chunk_link(const struct arena *arena, uint32_t number)
{
	return arena_has_chunk(arena, number) ? &arena_chunk(arena, number)->next_free : NULL;
}

static uint32_t spares(const struct arena_ring *ring)
{
	if (ring->is_of_cpu)
		return 0;
	return atomic_load_explicit(&ring->ledger->given, memory_order_acquire) -
		atomic_load_explicit(&ring->slot->taken, memory_order_relaxed);
}

/* Threads that are killed while they hand a chunk over to a CPU would leave a count that is wrong
 * for ever. So those of a CPU are what is not yet drained. */
static uint32_t held(const struct arena_ring *ring)
{
	if (ring->is_of_cpu)
		return (uint32_t) ((atomic_load_explicit(&ring->slot->cur,
							 memory_order_relaxed) >>
				    32) -
				   *(const volatile uint64_t *) &ring->ledger->drained_seq);
	return atomic_load_explicit(&ring->slot->popped, memory_order_relaxed) -
		atomic_load_explicit(&ring->ledger->returned, memory_order_relaxed);
}

uint32_t chunk_used(const struct arena_ring *ring)
{
	return held(ring) - spares(ring);
}

bool chunk_has_spare(const struct arena_ring *ring)
{
	return spares(ring);
}

uint32_t chunk_held(const struct arena_ring *ring)
{
	return held(ring);
}

/* In rings that overwrite: how many chunks the ring has, the present one included. */
static uint64_t in_ring(const struct arena_ring *ring)
{
	return ring->seq - atomic_load_explicit(&ring->slot->gone, memory_order_relaxed);
}

static bool can_give_up(const struct arena_ring *ring)
{
	return ring->arena->rings_overwrite && !ring->is_of_cpu && in_ring(ring) > 1 &&
		in_ring(ring) <= ARENA_SPARES;
}

/* Whether a ring has as many chunks as it may: one more is there for the collector to read. */
static bool is_whole(const struct arena_ring *ring)
{
	return can_give_up(ring) && in_ring(ring) >= ring->arena->ring_chunks - 1;
}

bool chunk_is_there(const struct arena_ring *ring)
{
	return can_give_up(ring) || spares(ring) ||
		(held(ring) < ring->arena->ring_chunks &&
		 arena_has_chunk(
			 ring->arena,
			 (uint32_t) atomic_load_explicit(&ring->arena->shared->free_chunks,
							 memory_order_relaxed)));
}

/* The chunk that is so many before the present one, or 0. */
static uint32_t find_before(const struct arena_ring *ring, uint64_t count)
{
	uint32_t number = ring->chunk;

	for (; count && arena_has_chunk(ring->arena, number); count--)
		number = arena_chunk(ring->arena, number)->prev;
	return arena_has_chunk(ring->arena, number) ? number : 0;
}

/* Take the oldest chunk out of a ring that overwrites, unless the collector is faster; or 0. Where
 * interrupted code may still write to it, it is left for the collector. */
static uint32_t give_up_oldest(struct arena_ring *ring)
{
	while (can_give_up(ring)) {
		uint64_t gone = atomic_load_explicit(&ring->slot->gone, memory_order_acquire);
		const uint64_t later = ring->seq - gone - 1;
		struct arena_chunk *chunk;
		uint32_t number;

		/* The present one, if the collector has taken the last of the others. */
		if (!later || later >= ARENA_SPARES ||
		    !atomic_compare_exchange_strong(&ring->slot->gone, &gone, gone + 1))
			continue;
		number = find_before(ring, later);
		if (!number)
			return 0;
		chunk = arena_chunk(ring->arena, number);
		if (chunk->flags & CHUNK_DOUBTFUL)
			continue;
		/* Whoever reads what was there finds out that it is not any more. */
		atomic_store(&chunk->seq, 0);
		return number;
	}
	return 0;
}

uint32_t chunk_take(struct arena_ring *ring)
{
	struct arena_slot *slot = ring->slot;
	uint32_t number;

	/* What would be in it could not be written. */
	if (atomic_load_explicit(&ring->arena->control->state, memory_order_relaxed) & ARENA_FULL)
		return 0;
	if (is_whole(ring)) {
		number = give_up_oldest(ring);
		if (number)
			return number;
	}
	/* Its pages are in the tables of this process already. */
	while (spares(ring)) {
		const uint32_t taken = atomic_load_explicit(&slot->taken, memory_order_relaxed);

		number = atomic_load_explicit(&ring->ledger->spares[taken % ARENA_SPARES],
					      memory_order_relaxed);
		atomic_store_explicit(&slot->taken, taken + 1, memory_order_release);
		if (arena_has_chunk(ring->arena, number))
			return number;
	}
	number = held(ring) < ring->arena->ring_chunks ? chunk_pop(ring) : 0;
	return number ? number : give_up_oldest(ring);
}

uint32_t chunk_pop(struct arena_ring *ring)
{
	struct arena_slot *slot = ring->slot;
	uint32_t number;

	if (atomic_load_explicit(&ring->arena->control->state, memory_order_relaxed) & ARENA_FULL)
		return 0;
	number = stack_pop(&ring->arena->shared->free_chunks, chunk_link, ring->arena);
	if (!number)
		return 0;
	/* The owner first: should the thread die here, that tells whose it is. */
	atomic_store_explicit(&arena_chunk(ring->arena, number)->owner, ring->number,
			      memory_order_relaxed);
	atomic_fetch_add_explicit(&slot->popped, 1, memory_order_release);
	atomic_fetch_sub_explicit(&ring->arena->shared->free_chunk_count, 1,
				  memory_order_relaxed);
	return number;
}

void chunk_leave(struct arena_ring *ring)
{
	atomic_fetch_sub_explicit(&ring->slot->popped, 1, memory_order_release);
}

struct arena_chunk *chunk_prepare(const struct arena_ring *ring, uint32_t number, uint64_t now)
{
	struct arena_slot *slot = ring->slot;
	struct arena_chunk *chunk = arena_chunk(ring->arena, number);

	atomic_store_explicit(&chunk->owner, ring->number, memory_order_relaxed);
	chunk->prev = ring->chunk;
	chunk->flags = 0;
	/* The first before the last: a handler that loses one meanwhile is later than both, or
	 * has another first. */
	chunk->first_lost = atomic_exchange_explicit(&slot->first_lost, 0, memory_order_relaxed);
	chunk->lost = atomic_load_explicit(&slot->lost, memory_order_relaxed);
	chunk->last_lost = atomic_load_explicit(&slot->last_lost, memory_order_relaxed);
	if (now < chunk->last_lost)
		now = chunk->last_lost;
	chunk->least_end = 0;
	/* From here on only interrupted code writes there, which commits more, and never less. */
	chunk->before = ring->chunk ? arena_chunk(ring->arena, ring->chunk)->committed : 0;
	chunk->packet.timestamp_begin = now;
	chunk->packet.timestamp_end = now;
	atomic_store_explicit(&chunk->seq, ring->seq + 1, memory_order_relaxed);
	__atomic_store_n(&chunk->committed, (uint32_t) sizeof(*chunk), __ATOMIC_RELEASE);
	return chunk;
}

void chunk_show(struct arena_ring *ring, uint32_t number)
{
	const uint64_t wanted = (ring->seq + 1) << 32 | number;
	uint64_t seen = atomic_load_explicit(&ring->slot->cur, memory_order_relaxed);

	ring->seq++;
	ring->chunk = number;
	while (seen < wanted &&
	       !atomic_compare_exchange_weak_explicit(&ring->slot->cur, &seen, wanted,
						      memory_order_release, memory_order_relaxed))
		;
}
