/*
 * Conditions of triggers. There are several owners of a condition: destroying one gives up the own
 * part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_CONDITION_H
#define VESTIGE_LTTNG_CONDITION_CONDITION_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_condition;

enum lttng_condition_type {
	LTTNG_CONDITION_TYPE_UNKNOWN = -1,
	LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE = 100,
	LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH = 101,
	LTTNG_CONDITION_TYPE_BUFFER_USAGE_LOW = 102,
	LTTNG_CONDITION_TYPE_SESSION_ROTATION_ONGOING = 103,
	LTTNG_CONDITION_TYPE_SESSION_ROTATION_COMPLETED = 104,
	LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES = 105,
};

enum lttng_condition_status {
	LTTNG_CONDITION_STATUS_OK = 0,
	LTTNG_CONDITION_STATUS_ERROR = -1,
	LTTNG_CONDITION_STATUS_UNKNOWN = -2,
	LTTNG_CONDITION_STATUS_INVALID = -3,
	LTTNG_CONDITION_STATUS_UNSET = -4,
	LTTNG_CONDITION_STATUS_UNSUPPORTED = -5,
};

enum lttng_condition_type lttng_condition_get_type(const struct lttng_condition *condition);

void lttng_condition_destroy(struct lttng_condition *condition);

#ifdef __cplusplus
}
#endif

#endif
