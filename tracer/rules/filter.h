/*
 * Which functions are traced: patterns of names, and ranges of addresses.
 *
 * Each function is judged when it is called for the first time, and the answer is kept in a
 * hash table of addresses. So a call costs one look at the table, whatever the patterns are,
 * and objects need not be known before they are used.
 */
#ifndef VESTIGE_RULES_FILTER_H
#define VESTIGE_RULES_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"

/* A power of two. A function that finds no place here is judged at each call. */
#define FILTER_SLOTS (1u << 16)
#define FILTER_TRIES 8u

/* An address above two bits: 2 marks an answer, 1 is the answer. Zero is an empty slot. */
extern uint64_t filter_slots[FILTER_SLOTS] HIDDEN;

/* Judge a function that is not in the table. */
bool filter_judge(uintptr_t function) HIDDEN __attribute__((noinline, cold));
/* Forget an object: another may come to its place. */
void filter_forget(uintptr_t start, uintptr_t end) HIDDEN;

/* Fibonacci hashing: the upper bits of the product depend on all of the address. */
static inline uint64_t filter_hash(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15u >> 48;
}

/* Whether calls of the function are recorded. */
static inline bool filter_passes(const void *function)
{
	const uint64_t address = (uintptr_t) function;
	const uint64_t hash = filter_hash(address);

	for (unsigned int probe = 0; probe < FILTER_TRIES; probe++) {
		const uint64_t slot = __atomic_load_n(
			&filter_slots[(hash + probe) % FILTER_SLOTS], __ATOMIC_RELAXED);

		if (slot >> 2 == address)
			return slot & 1;
		if (!slot)
			break;
	}
	return filter_judge((uintptr_t) function);
}

#endif
