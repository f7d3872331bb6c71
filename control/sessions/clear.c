/*
 * Clearing sessions. It is done when there is a handle.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"

struct lttng_clear_handle {
	enum lttng_error_code result;
};

enum lttng_error_code lttng_clear_session(const char *session_name,
					  struct lttng_clear_handle **handle)
{
	struct lttng_clear_handle *made;
	void *memory = NULL;
	int code;

	if (!session_name)
		return LTTNG_ERR_INVALID;
	code = control_ask_for_handle("clear", session_name, handle ? sizeof(*made) : 0, &memory,
				      NULL);
	made = memory;
	if (made && handle) {
		made->result = LTTNG_OK;
		*handle = made;
	}
	return code ? (enum lttng_error_code) - code : LTTNG_OK;
}

void lttng_clear_handle_destroy(struct lttng_clear_handle *handle)
{
	free(handle);
}

enum lttng_clear_handle_status
lttng_clear_handle_wait_for_completion(struct lttng_clear_handle *handle, int timeout_ms)
{
	(void) timeout_ms;
	return handle ? LTTNG_CLEAR_HANDLE_STATUS_COMPLETED : LTTNG_CLEAR_HANDLE_STATUS_INVALID;
}

enum lttng_clear_handle_status
lttng_clear_handle_get_result(const struct lttng_clear_handle *handle,
			      enum lttng_error_code *result)
{
	if (!handle || !result)
		return LTTNG_CLEAR_HANDLE_STATUS_INVALID;
	*result = handle->result;
	return LTTNG_CLEAR_HANDLE_STATUS_OK;
}
