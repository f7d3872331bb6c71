/*
 * Changing inclusion sets.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_TRACKER_H
#define VESTIGE_CONTROL_TRACKER_H

#include <lttng/domain.h>

/* Add a process to an inclusion set or remove it; return 0 or a negative error code. */
int control_track(const char *verb, const char *session, enum lttng_domain_type domain,
		  const char *attribute, const char *value);

#endif
