/*
 * Function tracing: the hooks of programs that are compiled with -finstrument-functions.
 *
 * See the section on instrumentation options in the GCC manual. The events are those of
 * LTTng-UST's helper libraries liblttng-ust-cyg-profile and liblttng-ust-cyg-profile-fast.
 */
#include "process.h"
#include "stream.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void __cyg_profile_func_enter(void *function, void *call_site);
EXPORTED void __cyg_profile_func_exit(void *function, void *call_site);

static inline __attribute__((always_inline)) void
trace_verbose(enum event_class class, void *function, void *call_site)
{
	struct record record;

	if (!record_begin(&record, class, function, 2 * PLACE_SIZE))
		return;
	write_place(&record, function);
	write_place(&record, call_site);
	record_commit(&record);
}

/* What is not the common case; whether it has become that. */
static __attribute__((noinline, cold)) bool
trace_other(const enum function_tracing *tracing, enum event_class class, void *function,
	    void *call_site)
{
	if (*tracing == FUNCTIONS_UNKNOWN)
		process_start();
	if (*tracing == FUNCTIONS_VERBOSE)
		trace_verbose(class, function, call_site);
	return *tracing == FUNCTIONS_FAST;
}

void __cyg_profile_func_enter(void *function, void *call_site)
{
	struct record record;

	if (UNLIKELY(settings.on_entry != FUNCTIONS_FAST) &&
	    (settings.on_entry == FUNCTIONS_OFF ||
	     !trace_other(&settings.on_entry, EVENT_ENTRY, function, call_site)))
		return;
	if (!record_begin(&record, EVENT_FAST_ENTRY, function, PLACE_SIZE))
		return;
	write_place(&record, function);
	record_commit(&record);
}

void __cyg_profile_func_exit(void *function, void *call_site)
{
	struct record record;

	if (UNLIKELY(settings.on_exit != FUNCTIONS_FAST) &&
	    (settings.on_exit == FUNCTIONS_OFF ||
	     !trace_other(&settings.on_exit, EVENT_EXIT, function, call_site)))
		return;
	if (!record_begin(&record, EVENT_FAST_EXIT, function, 0))
		return;
	record_commit(&record);
}
