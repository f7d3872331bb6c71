/*
 * libbravo.so: the same layout as libalpha.so, byte for byte, but for its names
 * and for the source lines, which differ on purpose.
 */
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "reload_tp.h"

void bravo_step(int round)
{
	lttng_ust_tracepoint(reload, inside, "bravo", round);
}

void library_run(int round)
{
	bravo_step(round);
}
