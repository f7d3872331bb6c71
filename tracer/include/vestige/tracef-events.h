/* The event of lttng_ust_tracef(). SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_ust_tracef

#if !defined(VESTIGE_TRACEF_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VESTIGE_TRACEF_EVENTS_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_tracef, event,
	LTTNG_UST_TP_ARGS(const char *, message, unsigned int, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence_text(char, msg, message, unsigned int, length)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(lttng_ust_tracef, event, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)

#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE <vestige/tracef-events.h>
#include <lttng/tracepoint-event.h>
