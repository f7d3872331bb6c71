/*
 * Marks 1, 2 and 3: by itself, or with USES_LIBRARY through emon_mark() of a library,
 * which with OPENS_LIBRARY it loads. With OPENS it loads the provider before the 2.
 */
#include <dlfcn.h>
#include <stdio.h>

#if !defined(USES_LIBRARY) || defined(DEFINES)
#ifdef DYNAMIC
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#endif
#ifdef DEFINES
#define LTTNG_UST_TRACEPOINT_DEFINE
#endif
#include "emon-tp.h"
#endif

#ifdef USES_LIBRARY
void emon_mark(int number);
#define MARK(number) emon_mark(number)
#else
#define MARK(number) lttng_ust_tracepoint(emon, mark, number)
#endif

int main(void)
{
#ifdef OPENS_LIBRARY
	void *library = dlopen(OPENS_LIBRARY, RTLD_NOW);
	void (*emon_mark)(int) = library ? (void (*)(int)) dlsym(library, "emon_mark") : NULL;

	if (!emon_mark)
		return puts(dlerror());
#endif
	MARK(1);
#ifdef OPENS
	if (!dlopen(OPENS, RTLD_NOW))
		return puts(dlerror());
#endif
	MARK(2);
	MARK(3);
	return 0;
}
