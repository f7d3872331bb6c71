/* What a thunk of library calls knows of its function, and where that is: see library_thunks.h. */
#ifndef VESTIGE_PATCH_LIBRARY_CALL_H
#define VESTIGE_PATCH_LIBRARY_CALL_H

#include <stdint.h>

/* Half of a block of thunks: the code, then as much of data. */
#define LIBRARY_BLOCK 0x4000u
/* From where a thunk begins to where its call returns to. */
#define LIBRARY_THUNK_CALL 10u

/* What a thunk knows of its function. */
struct library_call {
	/* What is recorded of it: its address, and above it LIBRARY_CALL_PASSES. */
	uintptr_t function;
	/* What is called. */
	uintptr_t target;
};

/* Set where the return address stays as it is: the exit is recorded with the entry. */
#define LIBRARY_CALL_PASSES ((uintptr_t) 1 << 63)

/* What is known of a thunk, by where its call returns to. */
static inline const struct library_call *library_call_of(uintptr_t back)
{
	return (const struct library_call *) (back - LIBRARY_THUNK_CALL + LIBRARY_BLOCK);
}

#endif
