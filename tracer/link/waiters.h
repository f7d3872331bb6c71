/* What of this process begins when a tracer comes: tracepoints and providers of all objects. */
#ifndef VESTIGE_LINK_WAITERS_H
#define VESTIGE_LINK_WAITERS_H

#include <stdbool.h>

struct vestige_waiter;

/* Keep what begins when a tracer comes; programs call it, see lttng/tracepoint.h. */
void vestige_wait_for_tracer(struct vestige_waiter *waiter) __attribute__((visibility("hidden")));
/* Say that this object has the thread that waits for a daemon; false where it cannot have it:
 * another object has, or this one may be unloaded. */
bool vestige_link_may_wait(void) __attribute__((visibility("hidden")));
/* Begin with the tracer, which has been loaded. */
void vestige_link_start_waiters(void) __attribute__((visibility("hidden")));

#endif
