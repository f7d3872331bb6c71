/*
 * Thunks of library calls: what the slots of a caller lead to in place of a function.
 *
 *   4 bytes     endbr64
 *   5 bytes     pushq, of its number
 *   6 bytes     jmp *ENTRY(%rip): stub_library() records the call, and goes on with the function
 *
 * What each is for lies in memory that is only data: so a thunk is made by two stores, in whatever
 * thread or handler a function is bound, and no memory is ever writable and executable.
 */
#ifndef VESTIGE_PATCH_LIBRARY_THUNKS_H
#define VESTIGE_PATCH_LIBRARY_THUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "library_call.h"

/* Find or make the thunk of a function, and tell whether it is a new one. 0 where there is no memory
 * for it. */
uintptr_t library_thunk(const struct library_call *call, bool *is_new) HIDDEN;
/* Whether an address is that of a thunk. */
bool library_thunk_is_at(uintptr_t address) HIDDEN;

#endif
