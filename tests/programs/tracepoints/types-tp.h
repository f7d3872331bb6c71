/* Fields of every type that a program may name. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER types

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./types-tp.h"

#if !defined(TYPES_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TYPES_TP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <lttng/tracepoint.h>
#include "types.h"

LTTNG_UST_TRACEPOINT_EVENT(types, all,
	LTTNG_UST_TP_ARGS(bool, flag, enum colour, colour, void *, pointer,
			  const void *, fixed, struct inner *, in,
			  unsigned long long, large, const unsigned char *, bytes),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(bool, flag, flag)
		lttng_ust_field_integer(enum colour, colour, colour)
		lttng_ust_field_integer_hex(void *, pointer, pointer)
		lttng_ust_field_integer_hex(const void *, fixed, fixed)
		lttng_ust_field_integer_hex(unsigned long, number_of_pointer, (unsigned long) pointer)
		lttng_ust_field_array(int, numbers, in->numbers, 3)
		lttng_ust_field_array_text(char, name, in->name, 8)
		lttng_ust_field_integer(unsigned long long, large, large)
		lttng_ust_field_integer(size_t, size, sizeof(*in))
		lttng_ust_field_integer(ssize_t, signed_size, -1)
		lttng_ust_field_integer(signed char, letter, -1)
		lttng_ust_field_sequence(unsigned char, bytes, bytes, unsigned int, 3)
		lttng_ust_field_sequence_text(char, some_text, (const char *) bytes, unsigned short, 3)
		lttng_ust_field_sequence_text(unsigned char, other_text, bytes, unsigned short, 3)
		lttng_ust_field_string(text, (const char *) bytes)
		lttng_ust_field_float(float, narrow, (float) large)
		lttng_ust_field_float(double, wide, 0.5)
	)
)

#endif

#include <lttng/tracepoint-event.h>
