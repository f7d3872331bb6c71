/*
 * Operations on what one thread alone writes to, with its signal handlers: safe against them,
 * and without the price of being safe against other threads.
 */
#ifndef VESTIGE_STREAM_LOCAL_H
#define VESTIGE_STREAM_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/* Set *cell to `new` if it is still `old`. */
static inline bool local_compare_exchange(volatile uint64_t *cell, uint64_t old, uint64_t new)
{
#if defined(__x86_64__)
	uint64_t seen = old;

	__asm__ volatile("cmpxchgq %2, %1" : "+a"(seen), "+m"(*cell) : "r"(new) : "memory", "cc");
	return seen == old;
#else
	return __atomic_compare_exchange_n(cell, &old, new, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
#endif
}

static inline bool local_compare_exchange_half(volatile uint32_t *cell, uint32_t old,
					       uint32_t new)
{
#if defined(__x86_64__)
	uint32_t seen = old;

	__asm__ volatile("cmpxchgl %2, %1" : "+a"(seen), "+m"(*cell) : "r"(new) : "memory", "cc");
	return seen == old;
#else
	return __atomic_compare_exchange_n(cell, &old, new, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_ACQUIRE);
#endif
}

/* Add to *cell; returns what it was. */
static inline uint64_t local_add(volatile uint64_t *cell, uint64_t more)
{
#if defined(__x86_64__)
	__asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*cell) : : "memory", "cc");
	return more;
#else
	return __atomic_fetch_add(cell, more, __ATOMIC_ACQ_REL);
#endif
}

static inline void compiler_barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

/* Before a store that makes others valid: the collector may run on another processor.
 * x86 shows stores in their order. */
static inline void publish_barrier(void)
{
#if defined(__x86_64__)
	compiler_barrier();
#else
	__atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

static inline __attribute__((always_inline)) const char *stack_pointer(void)
{
#if defined(__x86_64__)
	const char *stack;

	__asm__ volatile("mov %%rsp, %0" : "=r"(stack));
	return stack;
#else
	return __builtin_frame_address(0);
#endif
}

#endif
