/* Descriptions of events, as the tracer has them. */
#ifndef VESTIGE_LTTNG_DESCRIBE_H
#define VESTIGE_LTTNG_DESCRIBE_H

#include "../base/compiler.h"
#include "pool.h"
#include "recorded.h"

/* Describe an event. Returns NULL, or a word that says what is wrong with it: see agreement/skipped.py. */
const char *describe_event(struct ust_recorded *event, const struct ust_event *from,
			   struct pool *pool) HIDDEN;
/* Whether a name can stand in metadata. */
bool describe_can_name(const char *name) HIDDEN;

#endif
