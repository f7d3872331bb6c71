/* The probes of lttng_ust_tracef() and lttng_ust_tracelog(). */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <vestige/tracef-events.h>
#include <vestige/tracelog-events.h>

#include "../rules/rules.h"
#include "printf_events.h"

extern const struct vestige_tracer vestige_tracer;

void printf_events_start(void)
{
	static bool is_started;

	if (is_started)
		return;
	vestige_start_provider_lttng_ust_tracef(&vestige_tracer);
	vestige_start_provider_lttng_ust_tracelog(&vestige_tracer);
	is_started = true;
}

static bool takes(const struct vestige_provider *provider, const char *name)
{
	const void *filter;

	for (uint32_t index = 0; index < provider->event_count; index++)
		if (!strcmp(provider->events[index]->name, name))
			return rules_choose(0, provider, provider->events[index], &filter);
	return false;
}

bool printf_events_take(const char *provider, const char *name)
{
	if (!strcmp(provider, vestige_provider_lttng_ust_tracef.name))
		return takes(&vestige_provider_lttng_ust_tracef, name);
	if (!strcmp(provider, vestige_provider_lttng_ust_tracelog.name))
		return takes(&vestige_provider_lttng_ust_tracelog, name);
	return false;
}
