/* What of this process begins when a tracer comes: tracepoints and providers of all objects. */
#ifndef VESTIGE_LINK_WAITERS_H
#define VESTIGE_LINK_WAITERS_H

#include <stdbool.h>

#include "linked.h"

struct vestige_waiter;

/* Keep what begins when a tracer comes; programs call it, see lttng/tracepoint.h. */
void vestige_wait_for_tracer(struct vestige_waiter *waiter) LINKED;
/* Whether the program has a dynamic linker. What others load comes with a C library of its own, whose
 * threads do not know those of the program. */
bool vestige_link_may_load(void) LINKED;
/* Say that this object has the thread that waits for a daemon; false where it cannot have it:
 * another object has, or this one may be unloaded. */
bool vestige_link_may_wait(void) LINKED;
/* Begin with the tracer, which has been loaded. */
void vestige_link_start_waiters(void) LINKED;

#endif
