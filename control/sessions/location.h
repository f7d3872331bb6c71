/*
 * Where archives are.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_LOCATION_H
#define VESTIGE_CONTROL_LOCATION_H

#include <lttng/location.h>

struct lttng_trace_archive_location {
	/* NULL if it is not known. */
	char *path;
};

#endif
