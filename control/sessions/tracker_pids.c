/*
 * The older functions that let processes record.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "tracker.h"

static int change(const struct lttng_handle *handle, const char *verb, int pid)
{
	char text[16];

	if (!handle || pid < -1)
		return -LTTNG_ERR_INVALID;
	snprintf(text, sizeof(text), "%d", pid);
	return control_track(verb, handle->session_name, handle->domain.type,
			     handle->domain.type == LTTNG_DOMAIN_KERNEL ? "pid" : "vpid",
			     pid == -1 ? NULL : text);
}

int lttng_track_pid(struct lttng_handle *handle, int pid)
{
	return change(handle, "track", pid);
}

int lttng_untrack_pid(struct lttng_handle *handle, int pid)
{
	return change(handle, "untrack", pid);
}

/* Give the numbers in a set. */
static int copy_numbers(const struct json *set, int32_t **pids, size_t *count)
{
	*count = 0;
	*pids = calloc(control_count(set) ? control_count(set) : 1, sizeof(**pids));
	if (!*pids)
		return -LTTNG_ERR_NOMEM;
	for (CONTROL_EACH(one, set)) {
		if (one->type == JSON_TEXT)
			(*pids)[(*count)++] = (int32_t) strtol(one->text, NULL, 10);
	}
	return 0;
}

int lttng_list_tracker_pids(struct lttng_handle *handle, int *enabled, int32_t **pids,
			    size_t *nr_pids)
{
	const struct json *set;
	struct answer answer;
	bool is_kernel;
	int code;

	if (!handle || !enabled || !pids || !nr_pids)
		return -LTTNG_ERR_INVALID;
	is_kernel = handle->domain.type == LTTNG_DOMAIN_KERNEL;
	if (handle->domain.type != LTTNG_DOMAIN_UST && !is_kernel)
		return -LTTNG_ERR_UNSUPPORTED_DOMAIN;
	code = control_ask_of_session("describe", handle->session_name, &answer);
	if (code)
		return code;
	set = is_kernel ? control_member(control_member(answer.value, "kernel_trackers"), "pid")
			: control_member(control_member(answer.value, "trackers"), "vpid");
	*enabled = set && set->type == JSON_LIST;
	*pids = NULL;
	*nr_pids = 0;
	if (*enabled)
		code = copy_numbers(set, pids, nr_pids);
	control_free_answer(&answer);
	return code;
}
