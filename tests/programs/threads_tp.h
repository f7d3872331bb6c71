/* Provider "threads": what eight workers do at the same time. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER threads

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./threads_tp.h"

#if !defined(THREADS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define THREADS_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(threads, begin,
	LTTNG_UST_TP_ARGS(unsigned int, worker),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, worker, worker)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(threads, step,
	LTTNG_UST_TP_ARGS(unsigned int, worker, unsigned long, number, const char *, phase),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, worker, worker)
		lttng_ust_field_integer(unsigned long, number, number)
		lttng_ust_field_string(phase, phase)
	)
)

LTTNG_UST_TRACEPOINT_EVENT(threads, finish,
	LTTNG_UST_TP_ARGS(unsigned int, worker, unsigned long, steps),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(unsigned int, worker, worker)
		lttng_ust_field_integer_hex(unsigned long, steps, steps)
	)
)

#endif
#include <lttng/tracepoint-event.h>
