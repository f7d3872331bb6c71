/* Provider "lengthy": strings and sequences of several KiB. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lengthy

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lengthy_tp.h"

#if !defined(LENGTHY_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LENGTHY_TP_H

#include <stdint.h>
#include <stddef.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(lengthy, text,
	LTTNG_UST_TP_ARGS(const char *, text, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(size_t, length, length)
		lttng_ust_field_string(text, text)
		lttng_ust_field_sequence_text(char, counted, text, size_t, length)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(lengthy, numbers,
	LTTNG_UST_TP_ARGS(const uint16_t *, numbers, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence(uint16_t, numbers, numbers, unsigned int, length)
		lttng_ust_field_sequence_hex(uint8_t, bytes, numbers, unsigned short, length)
	)
)

#endif
#include <lttng/tracepoint-event.h>
