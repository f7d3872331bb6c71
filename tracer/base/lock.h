/* A lock that takes no function of the C library, for which a helper may stand in. */
#ifndef VESTIGE_BASE_LOCK_H
#define VESTIGE_BASE_LOCK_H

#include <stdatomic.h>

#include "system.h"

/* Open, closed, or closed while others wait. */
struct lock {
	atomic_uint state;
};

static inline void lock_take(struct lock *lock)
{
	unsigned int state = 0;

	if (atomic_compare_exchange_strong(&lock->state, &state, 1))
		return;
	while (atomic_exchange(&lock->state, 2) != 0)
		system_wait(&lock->state, 2);
}

static inline void lock_release(struct lock *lock)
{
	if (atomic_exchange(&lock->state, 0) == 2)
		system_wake(&lock->state);
}

#endif
