/* Provider "gated": a number, and a text that is asked for whenever it is looked at. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER gated

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./gated_tp.h"

#if !defined(GATED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define GATED_TP_H

#include <lttng/tracepoint.h>

const char *gated_text(void);

LTTNG_UST_TRACEPOINT_EVENT(gated, step, LTTNG_UST_TP_ARGS(long, number),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, number, number)
						       lttng_ust_field_string(text,
									      gated_text())))

#endif
#include <lttng/tracepoint-event.h>
