/*
 * What the public structure of events has no place for.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_EVENT_H
#define VESTIGE_CONTROL_EVENT_H

#include <stdint.h>

#include <lttng/event.h>

#include "../protocol/json.h"

struct event_extension {
	/* In the same piece of memory as the event, if it was listed. */
	const char *filter;
	const char *const *exclusions;
	uint32_t exclusion_count;
	/* Of an event that somebody has made; it is the event's. */
	struct lttng_userspace_probe_location *location;
};

/* Return the name of a type of rules, as sessions have it; NULL of what is none. */
const char *control_event_type_name(enum lttng_event_type type);

/* Return the type that has a name; that of tracepoints of what is none. */
enum lttng_event_type control_event_type(const char *name);

#endif
