/*
 * Places in programs where the kernel sets probes, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_PROGRAM_PROBE_H
#define VESTIGE_CONTROL_PROGRAM_PROBE_H

#include <lttng/userspace-probe.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

/* Return a copy of a place, NULL without memory. */
struct lttng_userspace_probe_location *
control_copy_program_probe(const struct lttng_userspace_probe_location *location);

/* Write a place. */
void control_write_program_probe(struct request *request, const char *name,
				 const struct lttng_userspace_probe_location *location);

/* Return a place, NULL if it is none or there is no memory. Its file is not opened. */
struct lttng_userspace_probe_location *control_read_program_probe(const struct json *found);

#endif
