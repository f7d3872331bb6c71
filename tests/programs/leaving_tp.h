/* Events whose fields ask the program, which may unload their provider just then. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER leaving

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./leaving_tp.h"

#if !defined(LEAVING_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LEAVING_TP_H

#include <lttng/tracepoint.h>

typedef int asked_function(int);

LTTNG_UST_TRACEPOINT_EVENT(
	leaving, asked, LTTNG_UST_TP_ARGS(asked_function *, ask, int, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, answer, ask(number))
			    lttng_ust_field_string(text, "a text")))

LTTNG_UST_TRACEPOINT_EVENT(
	leaving, plain, LTTNG_UST_TP_ARGS(int, number),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, number, number)))

#endif

#include <lttng/tracepoint-event.h>
