/*
 * Paths to actions of triggers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lttng/action/path.h>

#include <stdlib.h>
#include <string.h>

struct lttng_action_path {
	size_t count;
	uint64_t indexes[];
};

struct lttng_action_path *lttng_action_path_create(const uint64_t *indexes, size_t index_count)
{
	struct lttng_action_path *path;
	size_t size;

	if ((index_count && !indexes) ||
	    __builtin_mul_overflow(index_count, sizeof(*indexes), &size) ||
	    __builtin_add_overflow(size, sizeof(*path), &size))
		return NULL;
	path = malloc(size);
	if (!path)
		return NULL;
	path->count = index_count;
	if (index_count)
		memcpy(path->indexes, indexes, index_count * sizeof(*indexes));
	return path;
}

enum lttng_action_path_status
lttng_action_path_get_index_count(const struct lttng_action_path *path, size_t *index_count)
{
	if (!path || !index_count)
		return LTTNG_ACTION_PATH_STATUS_INVALID;
	*index_count = path->count;
	return LTTNG_ACTION_PATH_STATUS_OK;
}

enum lttng_action_path_status
lttng_action_path_get_index_at_index(const struct lttng_action_path *path, size_t path_index,
				     uint64_t *out_index)
{
	if (!path || !out_index || path_index >= path->count)
		return LTTNG_ACTION_PATH_STATUS_INVALID;
	*out_index = path->indexes[path_index];
	return LTTNG_ACTION_PATH_STATUS_OK;
}

void lttng_action_path_destroy(struct lttng_action_path *action_path)
{
	free(action_path);
}
