/* Waiting for the collector: what threads do when no chunk is there. */
#ifndef VESTIGE_ARENA_WAITING_H
#define VESTIGE_ARENA_WAITING_H

#include "../base/compiler.h"
#include "chunk.h"

/* Whether nothing more may be recorded. */
static inline bool waiting_is_closed(const struct arena *arena)
{
	return atomic_load_explicit(&arena->control->state, memory_order_relaxed) & ARENA_CLOSED;
}

/* Whether the thread gave up waiting, and nothing has changed since. */
static inline bool waiting_is_vain(const struct arena_ring *ring)
{
	return ring->is_dropping &&
		atomic_load_explicit(&ring->ledger->consumed, memory_order_relaxed) ==
		ring->seen_consumed &&
		atomic_load_explicit(&ring->arena->control->progress, memory_order_relaxed) ==
		ring->seen_progress &&
		atomic_load_explicit(&ring->arena->control->state, memory_order_relaxed) ==
		ring->seen_state;
}

/*
 * Wait for a chunk. Called where signals are not blocked: a handler may run meanwhile, and may
 * jump away from here. False when none came: then waiting_is_vain() until something changes.
 */
bool waiting_for_chunk(struct arena_ring *ring) HIDDEN;
/* Wait for a slot, in the same way: as long as other threads take some and give them back, there is
 * hope. False when none is free; waiting again would be in vain, too. */
bool waiting_for_slot(const struct arena *arena) HIDDEN;
/* A number that changes with each slot that is taken or given back. */
uint32_t waiting_slot_changes(const struct arena *arena) HIDDEN;
/* Find out, while the clock may be asked, how long a thread may look for a chunk without it. */
void waiting_confine(void) HIDDEN;
/* Wake the collector, if it sleeps. */
void waiting_ring_bell(const struct arena *arena) HIDDEN;
/* Wake it if it should see to this ring. */
void waiting_look_ahead(const struct arena_ring *ring) HIDDEN;

#endif
