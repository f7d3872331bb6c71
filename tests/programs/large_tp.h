/* Bytes, as many as one likes. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER large

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./large_tp.h"

#if !defined(LARGE_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LARGE_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(large, bytes,
	LTTNG_UST_TP_ARGS(int, number, const uint8_t *, bytes, uint32_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_sequence(uint8_t, bytes, bytes, uint32_t, length)
	)
)

#endif

#include <lttng/tracepoint-event.h>
