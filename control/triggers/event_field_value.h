/*
 * Values that were captured, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_EVENT_FIELD_VALUE_H
#define VESTIGE_CONTROL_EVENT_FIELD_VALUE_H

#include <lttng/event-field-value.h>

#include "../protocol/json.h"

/* Return an array of values, NULL if one is none or there is no memory. */
struct lttng_event_field_value *control_read_values(const struct json *list);

/* Free a value with all that is in it. */
void control_free_value(struct lttng_event_field_value *value);

#endif
