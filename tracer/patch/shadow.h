/*
 * The shadow of stacks: for each place of a stack that may hold a return address, 16 bytes.
 *
 * Where a return address is replaced, its shadow has what was there. The shadow's address is
 * computed from that of the place, so there is no stack of ours that would have to be kept in step
 * with the program's: functions may be left by longjmp() or by an exception, stacks switched and
 * handlers run on stacks of their own. See exit_stub() for who else knows the formula.
 */
#ifndef VESTIGE_PATCH_SHADOW_H
#define VESTIGE_PATCH_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Addresses of user space have so many bits. */
#define SHADOW_ADDRESS_BITS 47
/* The formula: twice the place, less a distance, in these bits. */
#define SHADOW_MASK 0x7FFFFFFFFFFF
#define SHADOW_DISTANCE 0x100000000000
/* Shadows are mapped for so much of a stack at once. */
#define SHADOW_BLOCK_BITS 20

struct shadow {
	uintptr_t return_address;
	/* Which function returns there. */
	uintptr_t function;
};

enum shadow_state {
	SHADOW_UNKNOWN,
	SHADOW_MAPPED,
	/* Something else is there, or there is no memory. */
	SHADOW_REFUSED,
};

/* Two bits for each block of the address space; NULL before the start. */
extern uint64_t *shadow_blocks HIDDEN;

/* Begin; false where there is no room. */
bool shadow_start(void) HIDDEN;
/* Map the shadow of a block; NULL where it cannot be had. */
struct shadow *shadow_map(uintptr_t slot) HIDDEN;
/* Give the memory back of a part of a stack that has no calls any more. */
void shadow_give_back(uintptr_t low, uintptr_t end) HIDDEN;

static inline struct shadow *shadow_at(uintptr_t slot)
{
	return (struct shadow *) ((2 * slot - SHADOW_DISTANCE) & SHADOW_MASK);
}

static inline enum shadow_state shadow_state_of(uintptr_t slot)
{
	const uintptr_t block = slot >> SHADOW_BLOCK_BITS;
	const uint64_t word = __atomic_load_n(&shadow_blocks[block / 32], __ATOMIC_ACQUIRE);

	return (enum shadow_state)(word >> block % 32 * 2 & 3);
}

/* The shadow of a place; NULL where there is none. */
static inline struct shadow *shadow_of(uintptr_t slot)
{
	if (UNLIKELY(!shadow_blocks || slot >> SHADOW_ADDRESS_BITS))
		return NULL;
	if (LIKELY(shadow_state_of(slot) == SHADOW_MAPPED))
		return shadow_at(slot);
	return shadow_map(slot);
}

#endif
