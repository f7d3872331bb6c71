/* What the helpers share: functions that stand in for others, and tell the tracer. */
#ifndef VESTIGE_HELPER_H
#define VESTIGE_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include <vestige/tracepoint-abi.h>

#include "../base/compiler.h"

/* The place in the program, so that source lines show who called: inside of the call
 * instruction, since what it returns to may belong to the next line. */
#define CALLER() ((char *) __builtin_return_address(0) - 1)
/* What the probes take for the place of the event. */
#define LTTNG_UST_TP_IP_PARAM ip

/* Let the tracer know of a provider and its tracepoints, once, as soon as it can begin, which
 * needs the environment: other libraries may call before our constructors run. False before
 * that. Without dlsym(), which forgets the last error. */
static inline bool helper_meet(const struct vestige_tracer *tracer,
			       void (*start_provider)(const struct vestige_tracer *tracer),
			       struct vestige_tracepoint *const *points, size_t count)
{
	static bool is_met;

	if (!environ)
		return false;
	if (__atomic_exchange_n(&is_met, true, __ATOMIC_RELAXED) || !tracer)
		return true;
	start_provider(tracer);
	for (size_t index = 0; index < count; index++)
		tracer->add_tracepoint(points[index]);
	return true;
}

#endif
