/* Events of ours, and the tracer that takes them. */
#ifndef VESTIGE_PYTHON_EVENT_H
#define VESTIGE_PYTHON_EVENT_H

#include "native.h"

/* An event with a provider of its own, which the tracer keeps for the life of the process. */
struct own_event {
	struct vestige_tracepoint point;
	struct vestige_event event;
	struct vestige_event_class event_class;
	struct vestige_event *events[1];
	struct vestige_provider provider;
	/* Of those that wait for the tracer. */
	struct own_event *next;
};

/* NULL in a process without the tracer. */
extern const struct vestige_tracer *tracer HIDDEN;

/* Make an event known to the tracer. All texts stay where they are. The ID is 0, or that of
 * an event which is in every recording. */
void event_define(struct own_event *event, const char *provider, const char *name, int log_level,
		  const struct vestige_field *fields, uint32_t field_count, uint32_t id);

/* Give all events to a tracer that has come since they were defined. */
void events_begin(const struct vestige_tracer *found);

static inline bool event_is_recorded(const struct own_event *event)
{
	return event->point.state != 0;
}

/* Whether an event with these values, one for each field, is to be recorded. */
static inline bool event_takes(const struct own_event *event, const struct vestige_value *values,
			       uint64_t place)
{
	return event_is_recorded(event) &&
		(LIKELY(!event->event.filter) ||
		 tracer->passes(&event->event, values, (const void *) (uintptr_t) place));
}

#endif
