/*
 * Domains as daemons name them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "domain_names.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
	[LTTNG_DOMAIN_KERNEL] = "KERNEL", [LTTNG_DOMAIN_UST] = "UST",
	[LTTNG_DOMAIN_JUL] = "JUL",       [LTTNG_DOMAIN_LOG4J] = "LOG4J",
	[LTTNG_DOMAIN_PYTHON] = "PYTHON",
};

#define COUNT (sizeof(names) / sizeof(*names))

const char *control_domain_name(enum lttng_domain_type type)
{
	return (unsigned int) type < COUNT ? names[type] : NULL;
}

enum lttng_domain_type control_domain_type(const char *name)
{
	for (unsigned int i = 0; i < COUNT; i++) {
		if (name && names[i] && strcmp(names[i], name) == 0)
			return (enum lttng_domain_type) i;
	}
	return LTTNG_DOMAIN_NONE;
}

const char *control_buffers_name(enum lttng_buffer_type type)
{
	if (type == LTTNG_BUFFER_PER_PID)
		return "pid";
	return type == LTTNG_BUFFER_PER_UID ? "uid" : NULL;
}
