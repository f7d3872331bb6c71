/*
 * The arena: the memory that traced programs write to, and that the collector drains to files.
 *
 * One file of a recording and user, mapped by the collector and by every program. It holds
 * indices and offsets, no addresses. Region A (control, ledgers, rules) is the collector's:
 * programs map it read-only. Region B (shared, slots, classes, chunks) is written by both.
 *
 *   slot    a thread's place: who it is, which chunk it fills, what it lost
 *   ledger  what the collector notes for a slot
 *   chunk   the memory of one packet
 *   ring    the chunks that a slot holds
 *   pool    the chunks that nobody holds
 *
 * The states of a chunk:
 *
 *        pool --- pop ----+
 *                         v
 *       spare --take--> taken --prepare--> filling --`cur` moves on--> complete
 *         ^                                                               |
 *         |                                                      written to a file
 *         |                                                               v
 *         +------------------- given back to its slot <--------------- drained
 *        pool <--------- the slot has ended, or the pool is low ----------+
 *
 * Only the thread of the slot moves a chunk to the right, up to `complete`, and only the
 * collector moves it further. A chunk is complete as soon as `cur` has moved on: no step is
 * left that a thread could skip by dying. Where a thread dies between two steps, its chunk
 * has its slot as `owner`, and its `seq` tells where it belongs.
 *
 * Numbers of slots and chunks begin at 1; 0 is none. The byte order is that of the machine.
 */
#ifndef VESTIGE_ARENA_LAYOUT_H
#define VESTIGE_ARENA_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* The structures themselves. */
#include "../agreement/arena.h"

/* That of the agreement, as a number. */
static inline uint64_t arena_fingerprint(void)
{
	return strtoull(AGREEMENT, NULL, 16);
}

_Static_assert(sizeof(struct arena_control) == 4096, "a page");
_Static_assert(sizeof(struct arena_shared) == 4096, "a page");
_Static_assert(offsetof(struct arena_shared, free_chunks) % 64 == 0, "a line of its own");
_Static_assert(sizeof(struct arena_slot) == 512, "slots are 512 bytes apart");
_Static_assert(sizeof(struct arena_ledger) == 512, "ledgers are 512 bytes apart");
_Static_assert(sizeof(struct arena_chunk) == 192, "records begin at 192");

#endif
