/* Provider "chosen": events of every log level, and many of one class for filters. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER chosen

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./chosen_tp.h"

#if !defined(CHOSEN_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CHOSEN_TP_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <lttng/tracepoint.h>

#include "./chosen.h"

LTTNG_UST_TRACEPOINT_ENUM(chosen, colour,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("RED", 0)
		lttng_ust_field_enum_value("GREEN", 1)
		lttng_ust_field_enum_range("DARK", 2, 9)
	)
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(chosen, sample,
	LTTNG_UST_TP_ARGS(const struct sample *, it),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, it->number)
		lttng_ust_field_integer(int8_t, tiny, it->tiny)
		lttng_ust_field_integer(uint8_t, byte, (uint8_t) it->tiny)
		lttng_ust_field_integer(int64_t, wide, it->wide)
		lttng_ust_field_integer_hex(uint64_t, huge, (uint64_t) it->wide)
		lttng_ust_field_integer_network(int16_t, port, (int16_t) htons(it->port))
		lttng_ust_field_integer_network_hex(uint32_t, address, htonl(it->address))
		lttng_ust_field_integer_nowrite(int, hidden, it->number * 10)
		lttng_ust_field_float(float, narrow, it->narrow)
		lttng_ust_field_float(double, real, it->real)
		lttng_ust_field_string(text, it->text)
		lttng_ust_field_string(other, it->other)
		lttng_ust_field_array(int16_t, pair, it->pair, 2)
		lttng_ust_field_array_text(char, word, it->word, 8)
		lttng_ust_field_sequence(uint32_t, list, it->list, uint8_t, it->count)
		lttng_ust_field_sequence_network(uint16_t, ports, it->ports, uint8_t, it->count)
		lttng_ust_field_sequence(uint32_t, quad, it->list, uint16_t, 4)
		lttng_ust_field_sequence(int16_t, halves, (const int16_t *) it->list, uint8_t, 8)
		lttng_ust_field_sequence_text(char, piece, it->text, uint8_t, it->count)
		lttng_ust_field_enum(chosen, colour, int, shade, it->number & 3)
	)
)

#undef CHOSEN_POINT
#define CHOSEN_POINT(name)								\
	LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(chosen, sample, chosen, name,		\
		LTTNG_UST_TP_ARGS(const struct sample *, it))
CHOSEN_POINTS(CHOSEN_POINT)

#undef CHOSEN_LEVEL
#define CHOSEN_LEVEL(level)								\
	LTTNG_UST_TRACEPOINT_EVENT(chosen, level, LTTNG_UST_TP_ARGS(int, number),	\
		LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)))	\
	LTTNG_UST_TRACEPOINT_LOGLEVEL(chosen, level, LTTNG_UST_TRACEPOINT_LOGLEVEL_##level)
CHOSEN_LEVELS(CHOSEN_LEVEL)

#endif

#include <lttng/tracepoint-event.h>
