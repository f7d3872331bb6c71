/* Where the records of tracepoints go: to which channels, and as what there. */
#ifndef VESTIGE_HOOKS_ROUTES_H
#define VESTIGE_HOOKS_ROUTES_H

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"
#include "../stream/route.h"

/* Whether an event tells what others mean, or that something is missing: whatever is asked for. */
bool routes_have_always(const struct vestige_event *event) HIDDEN;
/*
 * Apply the rules of all channels that record to an event; whether any takes it. It has its ID, its
 * route and its filter then. Called with signals blocked, by one thread at a time.
 */
bool routes_choose(const struct vestige_provider *provider, struct vestige_event *event) HIDDEN;
/* Before another recording of a channel: events have no class in it yet. */
void routes_forget(uint32_t channel, struct vestige_event *event) HIDDEN;
/* Where routes are; an event has the number of its own, in these units. */
#define ROUTE_UNIT 16u
extern char *routes_memory HIDDEN;

/* The route of an event whose ID is EVENT_ROUTED. */
static inline const struct route *routes_find(const struct vestige_event *event)
{
	const uint32_t number = __atomic_load_n(&event->route, __ATOMIC_ACQUIRE);

	return (const struct route *) (const void *) (routes_memory +
						      (size_t) number * ROUTE_UNIT);
}

/* Whether any filter takes an event; which do is kept for route_begin(). */
bool routes_pass(const struct vestige_event *event, const struct vestige_value *values,
		 const void *ip) HIDDEN;
/*
 * What routes_pass() has kept, and forget it. An event that has got another route since then takes the
 * one for which its filters have passed. If it had none with filters, nothing was kept: it goes to
 * the channels that it had.
 */
uint32_t routes_take_passed(const struct vestige_event *event, const struct route **route) HIDDEN;

#endif
