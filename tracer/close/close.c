/*
 * Stands in for dlclose() where no auditing library can be used: the tracer looks then what
 * is gone. See decision 36.
 *
 * dlopen() is left alone, since it depends on its caller.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

#include "../base/compiler.h"

typedef int close_function(void *handle);

/* The tracer has it. */
void vestige_closed(void) __attribute__((weak));

EXPORTED int dlclose(void *handle)
{
	static close_function *volatile next;
	int result;

	if (!next)
		next = (close_function *) dlsym(RTLD_NEXT, "dlclose");
	result = next ? next(handle) : -1;
	if (vestige_closed)
		vestige_closed();
	return result;
}
