/* The events of lttng_ust_tracef() and lttng_ust_tracelog(), which are the tracer's own. */
#ifndef VESTIGE_LTTNG_PRINTF_EVENTS_H
#define VESTIGE_LTTNG_PRINTF_EVENTS_H

#include <stdbool.h>

#include "../base/compiler.h"

/* Have their providers described, if they are not yet. Not with the lock of tracepoints. */
void printf_events_start(void) HIDDEN;
/* Whether rules take an event, if it is one of them. */
bool printf_events_take(const char *provider, const char *name) HIDDEN;

#endif
