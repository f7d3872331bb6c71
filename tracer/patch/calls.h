/* Calls of functions whose entries lead to us. */
#ifndef VESTIGE_PATCH_CALLS_H
#define VESTIGE_PATCH_CALLS_H

#include <stdbool.h>

#include "../base/compiler.h"

/* Called by a thunk, see thunks.h, whose address is where it returns to. All registers stay what
 * they are, and so does the stack, but for the return address. */
void calls_entry(void) HIDDEN;
/* The same by a thunk of a library call, see library_thunks.h. */
void calls_library_entry(void) HIDDEN;
/* Make what calls need; false where they cannot be recorded. */
bool calls_start(void) HIDDEN;
/* Whether ends of calls are wanted that cannot be had. */
bool calls_lack_exits(void) HIDDEN;

#endif
