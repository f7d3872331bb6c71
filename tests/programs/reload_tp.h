/* Provider "reload": emitted from libraries that come and go. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER reload

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./reload_tp.h"

#if !defined(RELOAD_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define RELOAD_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(reload, inside,
	LTTNG_UST_TP_ARGS(const char *, library, int, round),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(library, library)
		lttng_ust_field_integer(int, round, round)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(reload, loaded,
	LTTNG_UST_TP_ARGS(const char *, library, void *, base),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(library, library)
		lttng_ust_field_integer_hex(unsigned long, base, (unsigned long) base)
	)
)

#endif
#include <lttng/tracepoint-event.h>
