/*
 * Thunks: a piece of code for each function, which its entry jumps to.
 *
 *   8 bytes     the address of the function
 *   8 bytes     the address of the code below
 *   6 bytes     pushq, of that address
 *   6 bytes     jmp *SLOT(%rip): stub_function() records the call, and goes on with the code below
 *   4 bytes     nothing
 *               the instructions that the jump took the place of, and a jump to what follows them
 *
 * They lie within 2 GB of the object, as all distances in them must reach it. The tracer may be
 * further away, so its address is in a slot at the beginning.
 */
#ifndef VESTIGE_PATCH_THUNKS_H
#define VESTIGE_PATCH_THUNKS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "plan.h"
#include "thunk.h"

struct thunks {
	uint8_t *place;
	size_t size;
	/* Where their object is. */
	uintptr_t object;
};

/* Make those of a plan, not yet executable; NULL, or why not. */
const char *thunks_make(struct thunks *thunks, const struct plan *plan,
			const struct dl_phdr_info *info) HIDDEN;
/* Let them be executed; false where that is refused. */
bool thunks_seal(const struct thunks *thunks) HIDDEN;
/* Give their memory back. */
void thunks_drop(struct thunks *thunks) HIDDEN;
/* Remember them until their object is gone. */
void thunks_keep(const struct thunks *thunks) HIDDEN;
/* Give the memory of an object's back, of which no code is there any more. */
void thunks_forget(uintptr_t object) HIDDEN;
/* Where the code begins of the thunk at an offset, which is 0 for the first; the offset of the
 * next is put in its place. */
uintptr_t thunks_next(const struct thunks *thunks, size_t *at,
		      const struct plan_entry *entry) HIDDEN;
/* What the thunk whose instructions begin somewhere leads to; 0 if they are no thunk's. */
uintptr_t thunks_stub_of(const uint8_t *code) HIDDEN;
/* Put a distance of 32 bits that leads from the byte after it; false if it is too large. */
bool thunks_put_distance(uint8_t *at, uintptr_t from, uintptr_t target) HIDDEN;

#endif
