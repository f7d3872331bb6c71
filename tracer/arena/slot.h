/* Slots: the place of a thread in the arena. */
#ifndef VESTIGE_ARENA_SLOT_H
#define VESTIGE_ARENA_SLOT_H

#include "../base/compiler.h"
#include "map.h"

/* What a thread tells of itself. */
struct slot_identity {
	uint32_t vpid;
	/* 0: as the lock of the slot tells it. */
	uint32_t vtid;
	uint64_t pid_namespace;
	uint64_t process_start;
	char procname[PROCNAME_SIZE];
};

/* Make what claims need; the same for all arenas. */
void slots_start(void) HIDDEN;
/* Whether there is a slot that nobody has; it may be gone a moment later. */
bool slot_is_free(const struct arena *arena) HIDDEN;
/* Take a slot for this thread; 0 when there is none. Signals are blocked. */
uint32_t slot_take(const struct arena *arena) HIDDEN;
/* Give it back: only one that was never claimed. */
void slot_give(const struct arena *arena, uint32_t number) HIDDEN;
/* Claim the slot that was taken. From here on the collector looks at it. Returns the ID of the
 * thread. */
uint32_t slot_claim(const struct arena *arena, uint32_t number,
		    const struct slot_identity *identity) HIDDEN;
/* Count a record that found no room. */
static inline void slot_count_lost(struct arena_slot *slot, uint64_t time)
{
	uint64_t none = 0;

	/* A handler may count, too, and may have a later time. */
	atomic_fetch_add_explicit(&slot->lost, 1, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&slot->first_lost, &none, time,
						memory_order_relaxed, memory_order_relaxed);
	if (atomic_load_explicit(&slot->last_lost, memory_order_relaxed) < time)
		atomic_store_explicit(&slot->last_lost, time, memory_order_release);
}
/* Count a record of a thread without a slot, where there is an arena. */
void arena_count_lost(const struct arena *arena) HIDDEN;

#endif
