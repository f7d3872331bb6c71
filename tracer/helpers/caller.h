/* Calling a function of the dynamic linker in the name of the program. */
#ifndef VESTIGE_CALLER_H
#define VESTIGE_CALLER_H

#include <stdint.h>

#include "../base/compiler.h"

/* What is to be done so that a call has the caller that it had without us. */
enum caller_way {
	/* Nothing: it would be no different if it came from here. */
	CALLER_DOES_NOT_MATTER,
	/* The call has to return to `place`, in the object of the caller, and from there
	 * here. */
	CALLER_RETURNS,
	/* There is no such place: only a jump will do. */
	CALLER_JUMPS,
};

struct caller {
	enum caller_way way;
	const void *place;
};

/* Find out for a call from an address that loads a file. */
struct caller caller_find(const void *address, const char *path) HIDDEN;
/* Call a function with up to three arguments, which returns by way of a place. */
void *caller_call(uintptr_t first, uintptr_t second, uintptr_t third, const void *function,
		  const void *place) HIDDEN;

#endif
