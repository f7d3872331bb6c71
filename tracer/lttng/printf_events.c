/* The probes of lttng_ust_tracef() and lttng_ust_tracelog(). */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include <vestige/tracef-events.h>
#include <vestige/tracelog-events.h>
