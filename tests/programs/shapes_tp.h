// Provider "shapes": emitted from C++ methods, templates, lambdas and inlined functions.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER shapes

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./shapes_tp.h"

#if !defined(SHAPES_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define SHAPES_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(shapes, at,
	LTTNG_UST_TP_ARGS(const char *, place, double, value),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(place, place)
		lttng_ust_field_float(double, value, value)
	)
)

#endif
#include <lttng/tracepoint-event.h>
