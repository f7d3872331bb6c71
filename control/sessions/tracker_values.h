/*
 * Values of inclusion sets, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_TRACKER_VALUES_H
#define VESTIGE_CONTROL_TRACKER_VALUES_H

#include <lttng/tracker.h>

#include "../protocol/json.h"

/* Return a copy of the values of an inclusion set, to be freed; NULL without memory. */
struct lttng_process_attr_values *control_copy_values(const struct json *values,
						      enum lttng_process_attr attribute);

/* Free values. */
void control_free_values(struct lttng_process_attr_values *values);

#endif
