/* Makes events of ours known to the tracer. */
#include "event.h"

const struct vestige_tracer *tracer;

static void begin(struct own_event *event, const struct vestige_tracer *found)
{
	found->add_provider(&event->provider);
	found->add_tracepoint(&event->point);
}

/* Events that found no tracer. */
static struct own_event *waiting;

/* Give all events that wait to the tracer; whoever takes the list does. */
static void give(const struct vestige_tracer *found)
{
	struct own_event *next;

	for (struct own_event *one = __atomic_exchange_n(&waiting, NULL, __ATOMIC_SEQ_CST); one;
	     one = next) {
		next = one->next;
		begin(one, found);
	}
}

/* Keep an event that has found no tracer. */
static void wait_for_tracer(struct own_event *event)
{
	const struct vestige_tracer *found;

	event->next = __atomic_load_n(&waiting, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&waiting, &event->next, event, 0, __ATOMIC_SEQ_CST,
					    __ATOMIC_RELAXED))
		;
	found = __atomic_load_n(&tracer, __ATOMIC_SEQ_CST);
	if (found)
		give(found);
}

void events_begin(const struct vestige_tracer *found)
{
	__atomic_store_n(&tracer, found, __ATOMIC_SEQ_CST);
	give(found);
}

void event_define(struct own_event *event, const char *provider, const char *name, int log_level,
		  const struct vestige_field *fields, uint32_t field_count, uint32_t id)
{
	event->event_class.struct_size = sizeof(event->event_class);
	event->event_class.field_count = field_count;
	event->event_class.fields = fields;
	event->event.struct_size = sizeof(event->event);
	event->event.id = id;
	event->event.name = name;
	event->event.event_class = &event->event_class;
	event->event.log_level = log_level;
	event->events[0] = &event->event;
	event->provider.struct_size = sizeof(event->provider);
	event->provider.event_count = 1;
	event->provider.name = provider;
	event->provider.events = event->events;
	event->point.struct_size = sizeof(event->point);
	event->point.provider = provider;
	event->point.name = name;
	if (tracer)
		begin(event, tracer);
	else
		wait_for_tracer(event);
}
