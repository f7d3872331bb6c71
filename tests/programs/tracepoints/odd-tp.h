/* What is rare: nothing to record, fields for filters only, all sorts of labels. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER odd

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./odd-tp.h"

#if !defined(ODD_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ODD_TP_H

#include <stddef.h>
#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(odd, no_arguments,
	LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, constant, 7))
)

LTTNG_UST_TRACEPOINT_EVENT(odd, void_arguments,
	LTTNG_UST_TP_ARGS(void),
	LTTNG_UST_TP_FIELDS()
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(odd, void_arguments, LTTNG_UST_TRACEPOINT_LOGLEVEL_CRIT)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(odd, void_arguments, "http://example.com/model#odd")

LTTNG_UST_TRACEPOINT_EVENT(odd, texts,
	LTTNG_UST_TP_ARGS(const char *, text, const char *, letters, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(text, text)
		lttng_ust_field_string_nowrite(hidden, text)
		lttng_ust_field_array_text(char, four, letters, 4)
		lttng_ust_field_sequence_text(char, some, letters, uint8_t, length)
		lttng_ust_field_string(again, text)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(odd, unwritten,
	LTTNG_UST_TP_ARGS(int, number, const int16_t *, numbers),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_nowrite(int, a, number)
		lttng_ust_field_float_nowrite(double, b, number)
		lttng_ust_field_array_nowrite(int16_t, c, numbers, 2)
		lttng_ust_field_array_text_nowrite(char, d, (const char *) numbers, 2)
		lttng_ust_field_sequence_nowrite(int16_t, e, numbers, size_t, 2)
		lttng_ust_field_sequence_text_nowrite(char, f, (const char *) numbers, size_t, 2)
		lttng_ust_field_integer_network(int16_t, g, (int16_t) number)
		lttng_ust_field_unused(number)
		lttng_ust_field_integer(int, written, number)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(odd, sequences,
	LTTNG_UST_TP_ARGS(const uint32_t *, numbers, size_t, length),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence(uint32_t, plain, numbers, uint8_t, length)
		lttng_ust_field_sequence_hex(uint32_t, hexadecimal, numbers, uint16_t, length)
		lttng_ust_field_sequence_network(uint32_t, swapped, numbers, uint32_t, length)
		lttng_ust_field_sequence_network_hex(uint32_t, both, numbers, uint64_t, length)
		lttng_ust_field_array(uint32_t, two, numbers, 2)
		lttng_ust_field_array_hex(uint32_t, two_hexadecimal, numbers, 2)
		lttng_ust_field_array_network(uint32_t, two_swapped, numbers, 2)
		lttng_ust_field_array_network_hex(uint32_t, two_both, numbers, 2)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(odd, colours,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_auto("first")
		lttng_ust_field_enum_auto("second")
		lttng_ust_field_enum_value("ten", 10)
		lttng_ust_field_enum_auto("eleven")
		lttng_ust_field_enum_range("many \"quoted\"", 20, 29)
		lttng_ust_field_enum_auto("thirty")
		lttng_ust_field_enum_value("negative", -4)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(odd, labels,
	LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(odd, colours, int, colour, number)
		lttng_ust_field_enum(odd, colours, int8_t, small, (int8_t) number)
		lttng_ust_field_enum_nowrite(odd, colours, int, hidden, number)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(odd, sizes,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("one", 1)
		lttng_ust_field_enum_range("large", 0x7fffffffffffffffULL, 0x8000000000000000ULL)
		lttng_ust_field_enum_value("largest", 0xffffffffffffffffULL)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(odd, large_labels,
	LTTNG_UST_TP_ARGS(uint64_t, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_enum(odd, sizes, uint64_t, size, number))
)

LTTNG_UST_TRACEPOINT_EVENT(odd, ten,
	LTTNG_UST_TP_ARGS(int, a, long, b, char, c, short, d, float, e, double, f,
			  const char *, g, uint64_t, h, int64_t, i, void *, j),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, a, a)
		lttng_ust_field_integer(long, b, b)
		lttng_ust_field_integer(char, c, c)
		lttng_ust_field_integer(short, d, d)
		lttng_ust_field_float(float, e, e)
		lttng_ust_field_float(double, f, f)
		lttng_ust_field_string(g, g)
		lttng_ust_field_integer(uint64_t, h, h)
		lttng_ust_field_integer(int64_t, i, i)
		lttng_ust_field_integer_hex(uintptr_t, j, (uintptr_t) j)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(odd, shared,
	LTTNG_UST_TP_ARGS(int, number, int, unused),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number))
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(odd, shared, odd, one,
	LTTNG_UST_TP_ARGS(int, number, int, unused))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(odd, shared, odd, other,
	LTTNG_UST_TP_ARGS(int, number, int, unused))
LTTNG_UST_TRACEPOINT_LOGLEVEL(odd, one, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

#endif

#include <lttng/tracepoint-event.h>
