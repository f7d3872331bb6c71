/*
 * Rotations that are asked for. They are complete when there is a handle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "location.h"

struct lttng_rotation_handle {
	struct lttng_trace_archive_location location;
};

int lttng_rotate_session(const char *session_name,
			 struct lttng_rotation_immediate_descriptor *descriptor,
			 struct lttng_rotation_handle **rotation_handle)
{
	struct lttng_rotation_handle *made;
	void *memory = NULL;
	struct answer answer;
	int code;

	/* Nobody can make a descriptor. */
	if (!session_name || descriptor)
		return -LTTNG_ERR_INVALID;
	code = control_ask_for_handle("rotate", session_name, rotation_handle ? sizeof(*made) : 0,
				      &memory, &answer);
	if (code)
		return code;
	made = memory;
	if (made && rotation_handle) {
		control_replace(&made->location.path, control_text_member(answer.value, "path"));
		*rotation_handle = made;
	}
	control_free_answer(&answer);
	return 0;
}

enum lttng_rotation_status
lttng_rotation_handle_get_state(struct lttng_rotation_handle *rotation_handle,
				enum lttng_rotation_state *rotation_state)
{
	if (!rotation_handle || !rotation_state)
		return LTTNG_ROTATION_STATUS_INVALID;
	*rotation_state = LTTNG_ROTATION_STATE_COMPLETED;
	return LTTNG_ROTATION_STATUS_OK;
}

enum lttng_rotation_status
lttng_rotation_handle_get_archive_location(struct lttng_rotation_handle *rotation_handle,
					   const struct lttng_trace_archive_location **location)
{
	if (!rotation_handle || !location)
		return LTTNG_ROTATION_STATUS_INVALID;
	if (!rotation_handle->location.path)
		return LTTNG_ROTATION_STATUS_UNAVAILABLE;
	*location = &rotation_handle->location;
	return LTTNG_ROTATION_STATUS_OK;
}

void lttng_rotation_handle_destroy(struct lttng_rotation_handle *rotation_handle)
{
	if (!rotation_handle)
		return;
	free(rotation_handle->location.path);
	free(rotation_handle);
}
