/* Provider "forking": a parent and its children. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER forking

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./forking_tp.h"

#if !defined(FORKING_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FORKING_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(forking, parent_says,
	LTTNG_UST_TP_ARGS(int, child),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, child, child)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(forking, child_says,
	LTTNG_UST_TP_ARGS(int, child, int, line),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, child, child)
		lttng_ust_field_integer(int, line, line)
	)
)

#endif
#include <lttng/tracepoint-event.h>
