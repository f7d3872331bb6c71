/* What a thunk of library calls knows of its function, and where that is: see library_thunks.h. */
#ifndef VESTIGE_PATCH_LIBRARY_CALL_H
#define VESTIGE_PATCH_LIBRARY_CALL_H

#include <stdint.h>

#include "../base/compiler.h"

/* Half of a block of thunks: the code, then as much of data. */
#define LIBRARY_BLOCK 0x4000u
#define LIBRARY_BLOCKS 64u
#define LIBRARY_THUNK_SIZE 16u
#define LIBRARY_THUNKS (LIBRARY_BLOCK / LIBRARY_THUNK_SIZE)

/* What a thunk knows of its function. */
struct library_call {
	/* What is recorded of it: its address, and above it LIBRARY_CALL_PASSES. */
	uintptr_t function;
	/* What is called. */
	uintptr_t target;
};

/* Set where the return address stays as it is: the exit is recorded with the entry. */
#define LIBRARY_CALL_PASSES ((uintptr_t) 1 << 63)

/* The first is no thunk: its target is the address of stub_library(). */
struct library_block {
	uint8_t code[LIBRARY_BLOCK];
	struct library_call calls[LIBRARY_THUNKS];
};

extern struct library_block *library_blocks[LIBRARY_BLOCKS] HIDDEN;

/* What is known of a thunk, by its number. */
static inline const struct library_call *library_call_of(uintptr_t number)
{
	return &library_blocks[number / LIBRARY_THUNKS]->calls[number % LIBRARY_THUNKS];
}

#endif
