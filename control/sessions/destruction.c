/*
 * Destroying sessions, and what came of it. It is done when there is a handle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "location.h"

struct lttng_destruction_handle {
	/* The last archive, if the session was rotated. */
	struct lttng_trace_archive_location location;
};

enum lttng_error_code lttng_destroy_session_ext(const char *session_name,
						struct lttng_destruction_handle **handle)
{
	struct lttng_destruction_handle *made;
	void *memory = NULL;
	struct answer answer;
	int code;

	if (!session_name)
		return LTTNG_ERR_INVALID;
	code = control_ask_for_handle("destroy", session_name, handle ? sizeof(*made) : 0,
				      &memory, &answer);
	if (code)
		return (enum lttng_error_code) - code;
	made = memory;
	/* Without memory for its path, the session is gone nevertheless. */
	if (made && handle) {
		control_replace(&made->location.path,
				control_text_member(answer.value, "archive"));
		*handle = made;
	}
	control_free_answer(&answer);
	return LTTNG_OK;
}

int lttng_destroy_session(const char *name)
{
	const enum lttng_error_code code = lttng_destroy_session_ext(name, NULL);

	return code == LTTNG_OK ? 0 : -(int) code;
}

int lttng_destroy_session_no_wait(const char *name)
{
	return lttng_destroy_session(name);
}

void lttng_destruction_handle_destroy(struct lttng_destruction_handle *handle)
{
	if (!handle)
		return;
	free(handle->location.path);
	free(handle);
}

enum lttng_destruction_handle_status
lttng_destruction_handle_wait_for_completion(struct lttng_destruction_handle *handle,
					     int timeout_ms)
{
	(void) timeout_ms;
	return handle ? LTTNG_DESTRUCTION_HANDLE_STATUS_COMPLETED
		      : LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID;
}

enum lttng_destruction_handle_status
lttng_destruction_handle_get_result(const struct lttng_destruction_handle *handle,
				    enum lttng_error_code *result)
{
	if (!handle || !result)
		return LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID;
	*result = LTTNG_OK;
	return LTTNG_DESTRUCTION_HANDLE_STATUS_OK;
}

enum lttng_destruction_handle_status
lttng_destruction_handle_get_rotation_state(const struct lttng_destruction_handle *handle,
					    enum lttng_rotation_state *rotation_state)
{
	if (!handle || !rotation_state)
		return LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID;
	*rotation_state = handle->location.path ? LTTNG_ROTATION_STATE_COMPLETED
						: LTTNG_ROTATION_STATE_NO_ROTATION;
	return LTTNG_DESTRUCTION_HANDLE_STATUS_OK;
}

enum lttng_destruction_handle_status lttng_destruction_handle_get_archive_location(
	const struct lttng_destruction_handle *handle,
	const struct lttng_trace_archive_location **location)
{
	if (!handle || !location || !handle->location.path)
		return LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID;
	*location = &handle->location;
	return LTTNG_DESTRUCTION_HANDLE_STATUS_OK;
}
