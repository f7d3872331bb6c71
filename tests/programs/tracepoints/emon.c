/*
 * An instrumented library. Compiled with DEFINES it has the tracepoints, with OPENS it
 * loads their provider.
 */
#include <dlfcn.h>
#include <stdio.h>

#ifdef DYNAMIC
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif
#ifdef DEFINES
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif
#include "emon-tp.h"

void emon_mark(int number);

void emon_mark(int number)
{
#ifdef OPENS
	static void *provider;

	if (!provider && !(provider = dlopen(OPENS, RTLD_NOW)))
		puts(dlerror());
#endif
	lttng_ust_tracepoint(emon, mark, number);
}
