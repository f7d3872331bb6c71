/*
 * Which action of a trigger is meant: no number for its action, one for an action of its list.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_PATH_H
#define VESTIGE_LTTNG_ACTION_PATH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action_path;

enum lttng_action_path_status {
	LTTNG_ACTION_PATH_STATUS_OK = 0,
	LTTNG_ACTION_PATH_STATUS_INVALID = -1,
};

struct lttng_action_path *lttng_action_path_create(const uint64_t *indexes, size_t index_count);

enum lttng_action_path_status
lttng_action_path_get_index_count(const struct lttng_action_path *path, size_t *index_count);

enum lttng_action_path_status
lttng_action_path_get_index_at_index(const struct lttng_action_path *path, size_t path_index,
				     uint64_t *out_index);

void lttng_action_path_destroy(struct lttng_action_path *action_path);

#ifdef __cplusplus
}
#endif

#endif
