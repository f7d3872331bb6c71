/* A tracer that comes later than this module: what it has waits for the first session daemon. */
#define _GNU_SOURCE
#include "late.h"

#include <dlfcn.h>

#include "../base/version.h"
#include "event.h"

/* What all tracers have that know of Python; later ones have more. */
#define LEAST_TRACER offsetof(struct vestige_tracer, now)

/* Whether the tracer is of a build that knows the same classes of events; else the recording
 * tells of us. */
static bool is_agreed(void)
{
	const char *agreement = dlsym(RTLD_DEFAULT, "vestige_agreement");
	void (*refuse)(const char *agreement, const char *version, const char *name);

	if (agreement && !strncmp(agreement, AGREEMENT " ", sizeof(AGREEMENT)))
		return true;
	*(void **) &refuse = dlsym(RTLD_DEFAULT, "vestige_refuse");
	if (refuse)
		refuse(AGREEMENT, VESTIGE_VERSION, "vestige.instrument");
	return false;
}

const struct vestige_tracer *late_check(const void *found)
{
	const struct vestige_tracer *made = found;

	return made && made->struct_size >= LEAST_TRACER && is_agreed() ? made : NULL;
}

void late_begin(void)
{
	const struct vestige_tracer *found = late_check(dlsym(RTLD_DEFAULT, "vestige_tracer"));

	if (found)
		events_begin(found);
}
