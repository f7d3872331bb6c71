/* Starting to trace. */
#ifndef VESTIGE_HOOKS_TRACING_H
#define VESTIGE_HOOKS_TRACING_H

#include <stdbool.h>

#include "../arena/place.h"
#include "../base/compiler.h"
#include "settings_words.h"

/* Begin to trace, unless that has been done. Libraries that do not need ours are initialised
 * before it, and may call hooks from their constructors. */
void tracing_start(void) HIDDEN;

/* Where the arena of a channel is, or was last. */
const struct arena_place *tracing_place(uint32_t channel) HIDDEN;

/* Whether a recording may begin later: then tracepoints are kept in mind. */
bool tracing_is_possible(void) HIDDEN;
/* Whether a session daemon is asked what to record. */
bool tracing_is_expected(void) HIDDEN;
/* Have the memory of a recording of a channel, which is another one than before; false where it cannot
 * be had. Nothing is recorded to it yet. */
bool tracing_take_memory(uint32_t channel, const struct wanted *wanted) HIDDEN;
/* Let functions be recorded for a channel, as the settings and the rules say. */
void tracing_begin_functions(uint32_t channel, const struct settings *wanted) HIDDEN;
/* The same after channels have changed. */
void tracing_join_functions(void) HIDDEN;

#endif
