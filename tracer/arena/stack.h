/*
 * Stacks of numbers, shared by processes, without a lock (Treiber's).
 *
 * The word on top has the first number in its lower half and a tag in the upper one, which
 * grows with each change: else a number that went and came back would look like one that
 * was there all the time, with a successor that is gone. The place of a number's link in an arena
 * is NULL where the number cannot be right.
 */
#ifndef VESTIGE_ARENA_STACK_H
#define VESTIGE_ARENA_STACK_H

#include <stdatomic.h>
#include <stdint.h>

struct arena;

typedef _Atomic uint32_t *stack_link(const struct arena *arena, uint32_t number);

static inline uint64_t stack_word(uint64_t before, uint32_t number)
{
	return ((before >> 32) + 1) << 32 | number;
}

/* Take the first; 0 when there is none. */
static inline uint32_t stack_pop(_Atomic uint64_t *top, stack_link *link,
				 const struct arena *arena)
{
	uint64_t seen = atomic_load_explicit(top, memory_order_acquire);

	while ((uint32_t) seen) {
		const uint32_t number = (uint32_t) seen;
		_Atomic uint32_t *next = link(arena, number);

		if (!next)
			return 0;
		if (atomic_compare_exchange_weak_explicit(
			    top, &seen,
			    stack_word(seen, atomic_load_explicit(next, memory_order_relaxed)),
			    memory_order_acq_rel, memory_order_acquire))
			return number;
	}
	return 0;
}

static inline void stack_push(_Atomic uint64_t *top, stack_link *link, const struct arena *arena,
			      uint32_t number)
{
	uint64_t seen = atomic_load_explicit(top, memory_order_relaxed);

	do
		atomic_store_explicit(link(arena, number), (uint32_t) seen, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(top, &seen, stack_word(seen, number),
						      memory_order_acq_rel,
						      memory_order_relaxed));
}

#endif
