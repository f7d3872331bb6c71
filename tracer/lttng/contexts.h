/* Contexts that programs register with LTTng-UST. */
#ifndef VESTIGE_LTTNG_CONTEXTS_H
#define VESTIGE_LTTNG_CONTEXTS_H

#include "../base/compiler.h"
#include "abi.h"

/* Returns what contexts_remove() takes; NULL when there is no room, or another one of the name.
 * Not for two threads at once. */
void *contexts_add(const struct ust_context_provider *provider) HIDDEN;
/* Take one away: others may still be in its functions until contexts_wait(), and nobody else
 * gets its place. */
void contexts_remove(void *added) HIDDEN;
/* Wait until no thread is in its functions, and give its place to others. */
void contexts_wait(void *added) HIDDEN;

#endif
