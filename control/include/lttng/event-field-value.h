/*
 * Values that were captured. All of them belong to their evaluation.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_FIELD_VALUE_H
#define VESTIGE_LTTNG_EVENT_FIELD_VALUE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_field_value;

enum lttng_event_field_value_type {
	LTTNG_EVENT_FIELD_VALUE_TYPE_UNKNOWN = -2,
	LTTNG_EVENT_FIELD_VALUE_TYPE_INVALID = -1,
	LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_INT = 0,
	LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_INT = 1,
	LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_ENUM = 2,
	LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_ENUM = 3,
	LTTNG_EVENT_FIELD_VALUE_TYPE_REAL = 4,
	LTTNG_EVENT_FIELD_VALUE_TYPE_STRING = 5,
	LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY = 6,
};

enum lttng_event_field_value_status {
	LTTNG_EVENT_FIELD_VALUE_STATUS_UNAVAILABLE = -2,
	LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID = -1,
	LTTNG_EVENT_FIELD_VALUE_STATUS_OK = 0,
};

enum lttng_event_field_value_type
lttng_event_field_value_get_type(const struct lttng_event_field_value *field_val);

/* INVALID of a value of another type. Enumerations are numbers, too. */
enum lttng_event_field_value_status
lttng_event_field_value_unsigned_int_get_value(const struct lttng_event_field_value *field_val,
					       uint64_t *val);

enum lttng_event_field_value_status
lttng_event_field_value_signed_int_get_value(const struct lttng_event_field_value *field_val,
					     int64_t *val);

enum lttng_event_field_value_status
lttng_event_field_value_real_get_value(const struct lttng_event_field_value *field_val,
				       double *val);

enum lttng_event_field_value_status
lttng_event_field_value_string_get_value(const struct lttng_event_field_value *field_val,
					 const char **value);

enum lttng_event_field_value_status
lttng_event_field_value_array_get_length(const struct lttng_event_field_value *field_val,
					 unsigned int *length);

/* UNAVAILABLE of an element that could not be captured. */
enum lttng_event_field_value_status lttng_event_field_value_array_get_element_at_index(
	const struct lttng_event_field_value *field_val, unsigned int index,
	const struct lttng_event_field_value **elem_field_val);

#ifdef __cplusplus
}
#endif

#endif
