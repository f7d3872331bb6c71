/* Provider "soaked": who emits, and how many it has emitted before. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER soaked

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./soaked_tp.h"

#if !defined(SOAKED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SOAKED_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	soaked, tick,
	LTTNG_UST_TP_ARGS(unsigned long, writer, unsigned long, number, const char *, text),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(unsigned long, writer, writer)
				    lttng_ust_field_integer(unsigned long, number, number)
					    lttng_ust_field_string(text, text)))

#endif
#include <lttng/tracepoint-event.h>
