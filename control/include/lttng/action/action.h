/*
 * What triggers do. There are several owners of an action: destroying one gives up the own part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_ACTION_H
#define VESTIGE_LTTNG_ACTION_ACTION_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action;

enum lttng_action_type {
	LTTNG_ACTION_TYPE_UNKNOWN = -1,
	LTTNG_ACTION_TYPE_NOTIFY = 0,
	LTTNG_ACTION_TYPE_START_SESSION = 1,
	LTTNG_ACTION_TYPE_STOP_SESSION = 2,
	LTTNG_ACTION_TYPE_ROTATE_SESSION = 3,
	LTTNG_ACTION_TYPE_SNAPSHOT_SESSION = 4,
	LTTNG_ACTION_TYPE_LIST = 5,
};

enum lttng_action_status {
	LTTNG_ACTION_STATUS_OK = 0,
	LTTNG_ACTION_STATUS_ERROR = -1,
	LTTNG_ACTION_STATUS_UNKNOWN = -2,
	LTTNG_ACTION_STATUS_INVALID = -3,
	LTTNG_ACTION_STATUS_UNSET = -4,
};

enum lttng_action_type lttng_action_get_type(const struct lttng_action *action);

void lttng_action_destroy(struct lttng_action *action);

#ifdef __cplusplus
}
#endif

#endif
