/* A provider with the names from before LTTng-UST 2.13. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER old

#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./old_names-tp.h"

#if !defined(OLD_NAMES_TP_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define OLD_NAMES_TP_H

#include <lttng/tracepoint.h>

TRACEPOINT_ENUM(old, sizes,
	TP_ENUM_VALUES(
		ctf_enum_value("small", 1)
		ctf_enum_range("large", 2, 9)
		ctf_enum_auto("huge")
	)
)

TRACEPOINT_EVENT(old, event,
	TP_ARGS(int, number, const char *, text, const long *, numbers),
	TP_FIELDS(
		ctf_integer(int, number, number)
		ctf_integer_hex(int, hexadecimal, number)
		ctf_integer_network(short, network, (short) number)
		ctf_integer_network_hex(short, network_hexadecimal, (short) number)
		ctf_integer_nowrite(int, hidden, number)
		ctf_float(double, real, number)
		ctf_string(text, text)
		ctf_array(long, array, numbers, 2)
		ctf_array_text(char, letters, text, 2)
		ctf_sequence(long, sequence, numbers, size_t, 2)
		ctf_sequence_text(char, some, text, size_t, 3)
		ctf_enum(old, sizes, int, size, number)
		ctf_unused(numbers)
	)
)
TRACEPOINT_LOGLEVEL(old, event, TRACE_WARNING)
TRACEPOINT_MODEL_EMF_URI(old, event, "http://example.com/old")

TRACEPOINT_EVENT_CLASS(old, shared, TP_ARGS(int, number),
	TP_FIELDS(ctf_integer(int, number, number)))
TRACEPOINT_EVENT_INSTANCE(old, shared, instance, TP_ARGS(int, number))
TRACEPOINT_LOGLEVEL(old, instance, TRACE_DEBUG_UNIT)

#endif

#include <lttng/tracepoint-event.h>
