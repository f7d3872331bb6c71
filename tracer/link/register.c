/*
 * What programs with our headers get that link lttng-ust: where a session daemon has been, it loads
 * the tracer, which registers the program; elsewhere, it waits for one.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>

#include "tracer_path.h"
#include "waiters.h"
#include "waiting.h"

/* Before tracepoints look for the tracer. */
static __attribute__((constructor(140), no_instrument_function)) void vestige_register(void)
{
	const int saved = errno;

	if (vestige_link_may_load() && !dlsym(RTLD_DEFAULT, "vestige_tracer") &&
	    vestige_link_choose_places() && !vestige_link_load_tracer() &&
	    vestige_link_may_wait())
		vestige_link_wait(vestige_link_start_waiters);
	errno = saved;
}
