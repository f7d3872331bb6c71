/* Provider "fields": every kind of field that LTTng-UST can record. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fields

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./fields_tp.h"

#if !defined(FIELDS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FIELDS_TP_H

#include <stdint.h>
#include <stddef.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(fields, integers,
	LTTNG_UST_TP_ARGS(uint64_t, bits),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int8_t, i8, (int8_t) bits)
		lttng_ust_field_integer(uint8_t, u8, (uint8_t) bits)
		lttng_ust_field_integer(int16_t, i16, (int16_t) bits)
		lttng_ust_field_integer(uint16_t, u16, (uint16_t) bits)
		lttng_ust_field_integer(int32_t, i32, (int32_t) bits)
		lttng_ust_field_integer(uint32_t, u32, (uint32_t) bits)
		lttng_ust_field_integer(int64_t, i64, (int64_t) bits)
		lttng_ust_field_integer(uint64_t, u64, bits)
		lttng_ust_field_integer(char, letter, (char) bits)
		lttng_ust_field_integer(long, machine_word, (long) bits)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, hexadecimal,
	LTTNG_UST_TP_ARGS(uint64_t, bits),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(int8_t, i8, (int8_t) bits)
		lttng_ust_field_integer_hex(uint8_t, u8, (uint8_t) bits)
		lttng_ust_field_integer_hex(int16_t, i16, (int16_t) bits)
		lttng_ust_field_integer_hex(int32_t, i32, (int32_t) bits)
		lttng_ust_field_integer_hex(uint32_t, u32, (uint32_t) bits)
		lttng_ust_field_integer_hex(int64_t, i64, (int64_t) bits)
		lttng_ust_field_integer_hex(uint64_t, u64, bits)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, network,
	LTTNG_UST_TP_ARGS(uint64_t, bits),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_network(int16_t, i16, (int16_t) bits)
		lttng_ust_field_integer_network(uint32_t, u32, (uint32_t) bits)
		lttng_ust_field_integer_network(int64_t, i64, (int64_t) bits)
		lttng_ust_field_integer_network_hex(uint16_t, port, (uint16_t) bits)
		lttng_ust_field_integer_network_hex(int32_t, address, (int32_t) bits)
		lttng_ust_field_integer_network_hex(uint64_t, token, bits)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, reals,
	LTTNG_UST_TP_ARGS(float, narrow, double, wide),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, shift, 3)
		lttng_ust_field_float(float, narrow, narrow)
		lttng_ust_field_float(double, wide, wide)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, arrays,
	LTTNG_UST_TP_ARGS(const int16_t *, numbers, const uint32_t *, words, const char *, letters),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_array(int16_t, numbers, numbers, 4)
		lttng_ust_field_array_hex(uint32_t, words, words, 3)
		lttng_ust_field_array_network(int16_t, swapped, numbers, 4)
		lttng_ust_field_array_network_hex(uint32_t, swapped_words, words, 3)
		lttng_ust_field_array_text(char, letters, letters, 8)
		lttng_ust_field_array(uint8_t, one, letters, 1)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, sequences,
	LTTNG_UST_TP_ARGS(const int64_t *, numbers, const uint32_t *, words, const char *, letters,
			  size_t, count),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence(int64_t, numbers, numbers, size_t, count)
		lttng_ust_field_sequence_hex(uint32_t, words, words, uint8_t, count)
		lttng_ust_field_sequence_network(int64_t, swapped, numbers, uint16_t, count)
		lttng_ust_field_sequence_network_hex(uint32_t, swapped_words, words, uint32_t, count)
		lttng_ust_field_sequence_text(char, letters, letters, uint64_t, count)
		lttng_ust_field_integer(uint8_t, last, count)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, strings,
	LTTNG_UST_TP_ARGS(const char *, text, const char *, other),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint8_t, before, 1)
		lttng_ust_field_string(text, text)
		lttng_ust_field_string(other, other)
		lttng_ust_field_integer(uint32_t, after, 2)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(fields, temperature,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_range("FROST", -40, -1)
		lttng_ust_field_enum_value("ZERO", 0)
		lttng_ust_field_enum_range("MILD", 0, 20)
		lttng_ust_field_enum_range("WARM", 15, 30)
		lttng_ust_field_enum_value("a \"quoted\" name", 100)
	)
)

LTTNG_UST_TRACEPOINT_ENUM(fields, state,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_auto("IDLE")
		lttng_ust_field_enum_auto("RUNNING")
		lttng_ust_field_enum_value("BROKEN", 200)
		lttng_ust_field_enum_auto("AFTER_BROKEN")
		lttng_ust_field_enum_range("HUGE", 4000000000ULL, 4294967295ULL)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, enumerations,
	LTTNG_UST_TP_ARGS(int, degrees, unsigned int, state),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_enum(fields, temperature, int, degrees, degrees)
		lttng_ust_field_enum(fields, temperature, int8_t, small_degrees, (int8_t) degrees)
		lttng_ust_field_enum(fields, state, unsigned int, state, state)
		lttng_ust_field_enum(fields, state, uint8_t, small_state, (uint8_t) state)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(fields, nothing,
	LTTNG_UST_TP_ARGS(),
	LTTNG_UST_TP_FIELDS()
)

LTTNG_UST_TRACEPOINT_EVENT(fields, hidden,
	LTTNG_UST_TP_ARGS(int, seen, const char *, unseen),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string_nowrite(unseen, unseen)
		lttng_ust_field_integer(int, seen, seen)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(fields, pair,
	LTTNG_UST_TP_ARGS(int, left, int, right),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, left, left)
		lttng_ust_field_integer(int, right, right)
	)
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(fields, pair, fields, first_pair,
	LTTNG_UST_TP_ARGS(int, left, int, right))
LTTNG_UST_TRACEPOINT_LOGLEVEL(fields, first_pair, LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(fields, pair, fields, second_pair,
	LTTNG_UST_TP_ARGS(int, left, int, right))
LTTNG_UST_TRACEPOINT_LOGLEVEL(fields, second_pair, LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG)

#endif
#include <lttng/tracepoint-event.h>
