/* A provider package: a library that a program loads and unloads, with the probes of its events. */
#define _GNU_SOURCE
#include "handmade.h"

#define OWNER NULL
static const struct ust_event *const events[] = {EVENT("tick", CLASS(NUMBER, TEXT))};
static const struct ust_provider provider = PROVIDER("package", events, 3);
static void *registered;

static __attribute__((constructor)) void add_provider(void)
{
	class_of_probes = events[0]->event_class;
	registered = lttng_ust_probe_register(&provider);
}

static __attribute__((destructor)) void remove_provider(void)
{
	lttng_ust_probe_unregister(registered);
}
