/* Starting to trace. */
#ifndef VESTIGE_HOOKS_TRACING_H
#define VESTIGE_HOOKS_TRACING_H

#include "../arena/place.h"
#include "../base/compiler.h"

/* Begin to trace, unless that has been done. Libraries that do not need ours are initialised
 * before it, and may call hooks from their constructors. */
void tracing_start(void) HIDDEN;

/* Where the arena is, of a process that records. */
const struct arena_place *tracing_place(void) HIDDEN;

#endif
