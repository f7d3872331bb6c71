/* Where arenas are in the memory of this program. */
#ifndef VESTIGE_ARENA_MAP_H
#define VESTIGE_ARENA_MAP_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../base/settings.h"
#include "layout.h"
#include "place.h"

/* How many chunks may be set aside, see arena_set_aside(). */
#define ARENA_MOST_ASIDE 8u

/* A chunk that has another place in this process. */
struct arena_aside {
	uint32_t number;
	struct arena_chunk *chunk;
};

struct arena {
	/* NULL: there is no arena-> */
	char *base;
	const struct arena_control *control;
	struct arena_shared *shared;
	/* NULL without. */
	const char *rules;
	size_t rules_size;
	struct arena_class *classes;
	char *class_text;
	uint64_t class_text_size;
	uint64_t slots_at;
	uint64_t ledgers_at;
	uint64_t chunks_at;
	/* The ID of the first class. */
	uint32_t first_class;
	uint32_t slot_count;
	uint32_t chunk_bytes;
	/* Those that are mapped: fewer where the program may not have so much memory. */
	uint32_t chunk_count;
	uint32_t ring_chunks;
	uint64_t wait_ns;
	bool is_overwriting;
	/* Whether a thread whose ring is full gives up its oldest chunk. */
	bool rings_overwrite;
	uint32_t aside_count;
	struct arena_aside aside[ARENA_MOST_ASIDE];
};

/* Those of channels, by their numbers. */
extern struct arena arenas[CHANNELS] HIDDEN;

/* Map an arena in place of the one before. False if there is none, it is of another recording or agreement, or there is no
 * address space for it: the process records nothing then. All descriptors are closed again. */
bool arena_map(struct arena *arena, const struct arena_place *place) HIDDEN;
/*
 * In a child process: let a chunk of the parent be, and have memory of this process in its
 * place. Code that goes on writing there writes nowhere. The chunk itself, should the pool
 * ever give it, gets another place. False if there is no memory, or if as many have been set
 * aside as can be: the child must not record then, since code that goes on would write over the
 * parent's chunk.
 */
bool arena_set_aside(struct arena *arena, uint32_t number) HIDDEN;
/* Where a chunk is that was set aside, or NULL. */
struct arena_chunk *arena_find_aside(const struct arena *arena, uint32_t number) HIDDEN;

static inline struct arena_slot *arena_slot(const struct arena *arena, uint32_t number)
{
	return (struct arena_slot *) (void *) (arena->base + arena->slots_at) + (number - 1);
}

static inline const struct arena_ledger *arena_ledger(const struct arena *arena, uint32_t number)
{
	return (const struct arena_ledger *) (const void *) (arena->base + arena->ledgers_at) +
		(number - 1);
}

static inline struct arena_chunk *arena_chunk(const struct arena *arena, uint32_t number)
{
	if (__builtin_expect(arena->aside_count, 0)) {
		struct arena_chunk *chunk = arena_find_aside(arena, number);

		if (chunk)
			return chunk;
	}
	return (struct arena_chunk *) (void *) (arena->base + arena->chunks_at +
						(uint64_t) (number - 1) * arena->chunk_bytes);
}

/* The collector, or somebody who wrote over its memory, may say anything. */
static inline bool arena_has_chunk(const struct arena *arena, uint32_t number)
{
	return number - 1 < arena->chunk_count;
}

#endif
