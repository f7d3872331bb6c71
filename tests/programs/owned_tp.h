/* Provider "owned": credentials and namespaces as fields, to compare contexts with. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER owned

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./owned_tp.h"

#if !defined(OWNED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define OWNED_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(owned, now,
	LTTNG_UST_TP_ARGS(const char *, step, const uint32_t *, ids, const uint64_t *, inodes,
			  int, pid, int, tid, uint64_t, thread),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(step, step)
		lttng_ust_field_array(uint32_t, ids, ids, 6)
		lttng_ust_field_array(uint64_t, inodes, inodes, 8)
		lttng_ust_field_integer(int, pid, pid)
		lttng_ust_field_integer(int, tid, tid)
		lttng_ust_field_integer(uint64_t, thread, thread)
	)
)

#endif

#include <lttng/tracepoint-event.h>
