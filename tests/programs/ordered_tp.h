#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ordered

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./ordered_tp.h"

#if !defined(ORDERED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ORDERED_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	ordered, step,
	LTTNG_UST_TP_ARGS(long, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, number, number))
)
LTTNG_UST_TRACEPOINT_EVENT(
	ordered, line,
	LTTNG_UST_TP_ARGS(long, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(long, number, number)
		lttng_ust_field_string(text, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(ordered, step, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

#endif

#include <lttng/tracepoint-event.h>
