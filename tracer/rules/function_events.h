/* What the rules say of calls of functions, which have no tracepoint. */
#ifndef VESTIGE_RULES_FUNCTION_EVENTS_H
#define VESTIGE_RULES_FUNCTION_EVENTS_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../base/settings.h"

/* Apply the rules of a channel to what the hooks do for it: nothing, all calls, or those that meet a
 * filter. */
void function_events_start(uint32_t channel, enum function_tracing entry,
			   enum function_tracing exit) HIDDEN;
/* Whether a filter takes an entry, or an exit. */
bool function_entry_passes(uint32_t channel, const void *function, const void *call_site) HIDDEN;
bool function_exit_passes(uint32_t channel, const void *function, const void *call_site) HIDDEN;

#endif
