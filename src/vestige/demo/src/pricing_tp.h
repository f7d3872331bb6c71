/* Provider "pricing": what the items cost. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pricing

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./pricing_tp.h"

#if !defined(PRICING_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PRICING_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(pricing, item_priced,
	LTTNG_UST_TP_ARGS(const char *, item, long, unit_price, long, price),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(item, item)
		lttng_ust_field_integer(long, unit_price, unit_price)
		lttng_ust_field_integer(long, price, price)
	)
)

#endif
#include <lttng/tracepoint-event.h>
