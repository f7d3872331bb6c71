/* Provider "numbered": events that tell which thread made them, and its how many-th one. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER numbered

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "numbered/numbered_tp.h"

#if !defined(NUMBERED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define NUMBERED_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(numbered, made,
	LTTNG_UST_TP_ARGS(unsigned int, place, unsigned long, number, const char *, text,
			  size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, place, place)
		lttng_ust_field_integer(unsigned long, number, number)
		lttng_ust_field_sequence_text(char, filling, text, size_t, length)
	)
)

#endif
#include <lttng/tracepoint-event.h>
