/*
 * Functions that end by jumping to another one: who is still to be told of as left.
 *
 * Such a function leaves its return address to the other one. Both are open until that returns, so
 * the shadow has a chain in the place of a function: a number, from which the functions follow from
 * the innermost outwards. Chains are shared and kept for good: a program has few of them.
 */
#ifndef VESTIGE_PATCH_CHAINS_H
#define VESTIGE_PATCH_CHAINS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Smaller numbers are chains: no function is there. */
#define CHAINS 0x10000u

/* What a function jumps from: the chain, or the function, that was open until now. The chain of
 * both; 0 where it would be too long, or there is no room. */
uintptr_t chain_add(uintptr_t outer, uintptr_t function) HIDDEN;
/* The innermost function; the rest, 0 for nothing, is put in the place of the chain. */
uintptr_t chain_take(uintptr_t *chain) HIDDEN;

static inline bool is_chain(uintptr_t function)
{
	return function < CHAINS;
}

#endif
