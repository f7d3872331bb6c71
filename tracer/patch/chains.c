/* Functions that end by jumping to another one: a table of chains, which threads share without a
 * lock. An entry is found by what is in it, and changes once, from zero. */
/* Callers have their arguments in vector registers. */
#include "general_registers.h"

#include "chains.h"

#define FUNCTION_BITS 48
#define FUNCTION_MASK (((uint64_t) 1 << FUNCTION_BITS) - 1)
/* How many entries are looked at for one. */
#define MOST_TRIES 8u
/* A loop of functions that jump to each other has no end. */
#define MOST_FUNCTIONS 32u

/* The function, and above it the number of the chain that is left without it. */
static uint64_t chains[CHAINS];
static uint8_t lengths[CHAINS];

static uintptr_t find(uint64_t wanted, uint8_t length)
{
	/* Fibonacci hashing: the upper bits depend on all. */
	uint32_t at = (uint32_t) ((wanted * 0x9E3779B97F4A7C15u) >> 48);

	for (unsigned int tries = 0; tries < MOST_TRIES; tries++, at = (at + 1) % CHAINS) {
		uint64_t seen = __atomic_load_n(&chains[at], __ATOMIC_RELAXED);

		if (!at)
			continue;
		if (!seen) {
			/* The same for all who write it. */
			if (!__atomic_compare_exchange_n(&chains[at], &seen, wanted, false,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED) &&
			    seen != wanted)
				continue;
			__atomic_store_n(&lengths[at], length, __ATOMIC_RELAXED);
			return at;
		}
		if (seen == wanted)
			return at;
	}
	return 0;
}

uintptr_t chain_add(uintptr_t outer, uintptr_t function)
{
	uint8_t length;

	if (!is_chain(outer))
		outer = find(outer, 1);
	if (!outer)
		return 0;
	length = __atomic_load_n(&lengths[outer], __ATOMIC_RELAXED);
	if (length >= MOST_FUNCTIONS)
		return 0;
	return find(function | (uint64_t) outer << FUNCTION_BITS, (uint8_t) (length + 1));
}

uintptr_t chain_take(uintptr_t *chain)
{
	const uint64_t found = __atomic_load_n(&chains[*chain], __ATOMIC_RELAXED);

	*chain = found >> FUNCTION_BITS;
	return found & FUNCTION_MASK;
}

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
