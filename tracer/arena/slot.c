/*
 * Claiming slots.
 *
 * A claim is one compare-exchange and a robust mutex, which the thread locks and never
 * unlocks. The kernel unlocks it when the thread ends, by itself, with its process, or by
 * exec; that is how the collector learns of it. No destructor is needed, and no descriptor.
 */
#define _GNU_SOURCE
#include "slot.h"

#include <string.h>
#include <threads.h>

#include "../base/system.h"
#include "stack.h"

/* Where the list of robust mutexes is that the kernel knows of a thread, from its thread
 * pointer on; see get_robust_list(2). It is the same in all threads. */
static ptrdiff_t robust_list;

#if defined(__x86_64__) || defined(__aarch64__)
#define THREAD_POINTER ((char *) __builtin_thread_pointer())
#else
#define THREAD_POINTER ((char *) NULL)
#endif

void slots_start(void)
{
	struct robust_list_head *head = NULL;
	size_t size = 0;

	if (THREAD_POINTER &&
	    system_call(SYS_get_robust_list, 0, (long) &head, (long) &size, 0, 0, 0) == 0 && head)
		robust_list = (char *) head - THREAD_POINTER;
}

/* Whether a handler of ours has interrupted the C library in the middle of an operation on a
 * robust mutex: it would lose that one if it met another. */
static bool is_in_robust_operation(void)
{
	const struct robust_list_head *head;

	if (!robust_list)
		return false;
	head = (const void *) (THREAD_POINTER + robust_list);
	return *(struct robust_list *const volatile *) &head->list_op_pending;
}

static _Atomic uint32_t *slot_link(const struct arena *arena, uint32_t number)
{
	return number - 1 < arena->slot_count ? &arena_slot(arena, number)->next_free : NULL;
}

bool slot_is_free(const struct arena *arena)
{
	return (uint32_t) atomic_load_explicit(&arena->shared->free_slots, memory_order_relaxed);
}

uint32_t slot_take(const struct arena *arena)
{
	uint32_t number;

	if (is_in_robust_operation())
		return 0;
	while ((number = stack_pop(&arena->shared->free_slots, slot_link, arena))) {
		union arena_life *life = &arena_slot(arena, number)->life;

		/* The C library's function for threads of C11, since a helper may stand in for
		 * pthread_mutex_trylock(). It makes no system call. A slot that somebody else
		 * has locked is not free, whatever the stack says. */
		if (mtx_trylock((mtx_t *) (void *) &life->mutex) == thrd_success)
			return number;
	}
	return 0;
}

void slot_give(const struct arena *arena, uint32_t number)
{
	mtx_unlock((mtx_t *) (void *) &arena_slot(arena, number)->life.mutex);
	stack_push(&arena->shared->free_slots, slot_link, arena, number);
}

/* The collector may look at no slot above the highest. */
static void raise_highest(const struct arena *arena, uint32_t number)
{
	uint32_t highest = atomic_load(&arena->shared->slots_high);

	while (highest < number &&
	       !atomic_compare_exchange_weak(&arena->shared->slots_high, &highest, number))
		;
}

uint32_t slot_claim(const struct arena *arena, uint32_t number,
		    const struct slot_identity *identity)
{
	struct arena_slot *slot = arena_slot(arena, number);
	const struct arena_ledger *ledger = arena_ledger(arena, number);

	slot->vpid = identity->vpid;
	slot->vtid =
		identity->vtid ? identity->vtid : atomic_load(&slot->life.word) & FUTEX_TID_MASK;
	slot->flags = 0;
	slot->pid_namespace = identity->pid_namespace;
	slot->process_start = identity->process_start;
	memcpy(slot->procname, identity->procname, sizeof(slot->procname));
	/* It holds none, whatever was before. */
	atomic_store(&slot->taken, atomic_load(&ledger->given));
	atomic_store(&slot->popped, atomic_load(&ledger->returned));
	atomic_store_explicit(&slot->claimed, 1, memory_order_release);
	raise_highest(arena, number);
	return slot->vtid;
}

void arena_count_lost(const struct arena *arena)
{
	if (arena->base)
		atomic_fetch_add_explicit(&arena->shared->lost, 1, memory_order_relaxed);
}
