/* Makes events of ours known to the tracer. */
#include "event.h"

const struct vestige_tracer *tracer;

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
	if (!tracer)
		return;
	tracer->add_provider(&event->provider);
	tracer->add_tracepoint(&event->point);
}
