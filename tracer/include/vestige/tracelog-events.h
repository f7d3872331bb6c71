/* The events of lttng_ust_tracelog(). SPDX-License-Identifier: MIT */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_ust_tracelog

#if !defined(VESTIGE_TRACELOG_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VESTIGE_TRACELOG_EVENTS_H

#include <lttng/tracepoint.h>
#include <vestige/log-levels.h>

#define VESTIGE_LOG_ARGUMENTS							\
	LTTNG_UST_TP_ARGS(const char *, file, int, line, const char *, function,\
			  const char *, message, unsigned int, length)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	lttng_ust_tracelog, message, VESTIGE_LOG_ARGUMENTS,
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, line, line)
		lttng_ust_field_string(file, file)
		lttng_ust_field_string(func, function)
		lttng_ust_field_sequence_text(char, msg, message, unsigned int, length)))

#undef VESTIGE_LOG_EVENT
#define VESTIGE_LOG_EVENT(level)						\
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(lttng_ust_tracelog, message,	\
					    lttng_ust_tracelog, level,		\
					    VESTIGE_LOG_ARGUMENTS)		\
	LTTNG_UST_TRACEPOINT_LOGLEVEL(lttng_ust_tracelog, level, level)
VESTIGE_LOG_LEVELS(VESTIGE_LOG_EVENT)

#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE <vestige/tracelog-events.h>
#include <lttng/tracepoint-event.h>
