/* Contexts that programs add by vestige/context.h. */
#ifndef VESTIGE_HOOKS_PROGRAM_CONTEXT_H
#define VESTIGE_HOOKS_PROGRAM_CONTEXT_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/* Add one; false when there is no room, it is not sound, or there is one of the name. Not for
 * two threads at once. */
bool program_context_add(const struct vestige_context *context) HIDDEN;

#endif
