/* Provider "assorted": the smallest events, and events of strings and sequences. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER assorted

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./assorted_tp.h"

#if !defined(ASSORTED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ASSORTED_TP_H

#include <stddef.h>
#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(assorted, tick,
	LTTNG_UST_TP_ARGS(uint32_t, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, number, number)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(assorted, request,
	LTTNG_UST_TP_ARGS(const char *, method, const char *, path, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(method, method)
		lttng_ust_field_string(path, path)
		lttng_ust_field_sequence_text(char, body, path, size_t, length)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(assorted, samples,
	LTTNG_UST_TP_ARGS(const int32_t *, values, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence(int32_t, values, values, size_t, length)
		lttng_ust_field_array(uint8_t, digest, values, 8)
	)
)

#endif
#include <lttng/tracepoint-event.h>
