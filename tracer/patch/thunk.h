/* What is in front of the code of a thunk: see thunks.h. */
#ifndef VESTIGE_PATCH_THUNK_H
#define VESTIGE_PATCH_THUNK_H

#include <stdint.h>

struct thunk {
	uintptr_t function;
	/* Where the code is that its function goes on with. */
	uintptr_t next;
	/* The instructions that the function's entry leads to. */
	uint8_t push[6];
	uint8_t jump[6];
};

/* The thunk whose code is somewhere. */
static inline const struct thunk *thunk_at(uintptr_t next)
{
	return (const struct thunk *) next - 1;
}

#endif
