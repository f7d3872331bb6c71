/* Provider "flood": small events, as many as fit and more. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER flood

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./flood_tp.h"

#if !defined(FLOOD_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FLOOD_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(flood, drop,
	LTTNG_UST_TP_ARGS(unsigned long, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned long, number, number)
		lttng_ust_field_string(filling, "as fast as it goes, and faster than anybody reads")
	)
)

#endif
#include <lttng/tracepoint-event.h>
