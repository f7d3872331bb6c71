/*
 * Chunks, as the thread sees them that fills them.
 *
 * A thread goes on to another chunk in four steps: take one, prepare it while nobody looks,
 * make it the one that hooks write to (filling.c does), and tell by `cur`. The chunk before is
 * complete with that.
 */
#ifndef VESTIGE_ARENA_CHUNK_H
#define VESTIGE_ARENA_CHUNK_H

#include "../base/compiler.h"
#include "map.h"

/* What a thread knows of its slot, in memory of its own. */
struct arena_ring {
	/* NULL: the thread has no slot. */
	struct arena *arena;
	/* NULL, too. */
	struct arena_slot *slot;
	const struct arena_ledger *ledger;
	uint32_t number;
	/* Whether it is that of a CPU: it has no spares, and the slot does not count its chunks. */
	bool is_of_cpu;
	/* The present chunk, and how many were before it; 0: none yet. */
	uint32_t chunk;
	uint64_t seq;
	/* What told of the collector's progress when the thread gave up waiting. */
	bool is_dropping;
	uint32_t seen_consumed;
	uint32_t seen_progress;
	uint32_t seen_state;
};

/* Whether chunk_take() finds one, if no other thread takes it before. */
bool chunk_is_there(const struct arena_ring *ring) HIDDEN;

/* Whether the slot has one of its own. */
bool chunk_has_spare(const struct arena_ring *ring) HIDDEN;
/* How many chunks the ring holds. */
uint32_t chunk_held(const struct arena_ring *ring) HIDDEN;
/* Take a chunk from the pool; 0 when there is none now. Signals are blocked. */
uint32_t chunk_pop(struct arena_ring *ring) HIDDEN;
/* A chunk that was taken from the pool is that of a CPU now. */
void chunk_leave(struct arena_ring *ring) HIDDEN;
/* Take a chunk; 0 when there is none now. Signals are blocked. */
uint32_t chunk_take(struct arena_ring *ring) HIDDEN;
/* Make the chunk the slot's next, empty, with its times at `now`, or when the last record was
 * lost; the caller tells the rest of its packet. Nobody looks at it yet. */
struct arena_chunk *chunk_prepare(const struct arena_ring *ring, uint32_t number,
				  uint64_t now) HIDDEN;
/* Make the chunk that was prepared the present one. */
void chunk_show(struct arena_ring *ring, uint32_t number) HIDDEN;
/* How many chunks of the slot hold records; fewer if the collector has drained some since. */
uint32_t chunk_used(const struct arena_ring *ring) HIDDEN;

#endif
