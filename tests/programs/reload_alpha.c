/* libalpha.so: the same layout as libbravo.so, byte for byte, but for its names. */
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "reload_tp.h"

void alpha_step(int round)
{
	lttng_ust_tracepoint(reload, inside, "alpha", round);
}

void library_run(int round)
{
	alpha_step(round);
}
