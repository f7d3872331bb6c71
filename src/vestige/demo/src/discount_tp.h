/* Provider "discount": what the plugin takes off. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER discount

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./discount_tp.h"

#if !defined(DISCOUNT_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define DISCOUNT_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(discount, applied,
	LTTNG_UST_TP_ARGS(const char *, rule, long, before, long, after),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(rule, rule)
		lttng_ust_field_integer(long, before, before)
		lttng_ust_field_integer(long, after, after)
	)
)

#endif
#include <lttng/tracepoint-event.h>
