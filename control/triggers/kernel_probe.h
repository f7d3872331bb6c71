/*
 * Places in the kernel where probes are set, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_KERNEL_PROBE_H
#define VESTIGE_CONTROL_KERNEL_PROBE_H

#include <lttng/kernel-probe.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

/* Return a copy of a place, NULL without memory. */
struct lttng_kernel_probe_location *
control_copy_kernel_probe(const struct lttng_kernel_probe_location *location);

/* Write a place. */
void control_write_kernel_probe(struct request *request, const char *name,
				const struct lttng_kernel_probe_location *location);

/* Return a place, NULL if it is none or there is no memory. */
struct lttng_kernel_probe_location *control_read_kernel_probe(const struct json *found);

#endif
