/* Provider "shop": the life of an order. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shop

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./shop_tp.h"

#if !defined(SHOP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SHOP_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(shop, order_received,
	LTTNG_UST_TP_ARGS(int, number, const char *, item, int, quantity),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_string(item, item)
		lttng_ust_field_integer(int, quantity, quantity)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, order_received, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(shop, order_packed,
	LTTNG_UST_TP_ARGS(int, number, long, total),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_integer(long, total, total)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, order_packed, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(shop, order_refused,
	LTTNG_UST_TP_ARGS(int, number, long, total, const char *, reason),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_integer(long, total, total)
		lttng_ust_field_string(reason, reason)
	)
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(shop, order_refused, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

#endif
#include <lttng/tracepoint-event.h>
