/* Provider "greeting": one event with an integer and a string. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER greeting

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./greeting_tp.h"

#if !defined(GREETING_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GREETING_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(greeting, said,
	LTTNG_UST_TP_ARGS(int, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_string(text, text)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(greeting, said, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(greeting, said, "https://example.org/greeting")

#endif
#include <lttng/tracepoint-event.h>
