/* Provider "outing": where a walk got to. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER outing

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./outing_tp.h"

#if !defined(OUTING_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OUTING_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(outing, walked,
	LTTNG_UST_TP_ARGS(int, steps, const char *, where),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, steps, steps)
		lttng_ust_field_string(where, where)
	)
)

#endif
#include <lttng/tracepoint-event.h>
