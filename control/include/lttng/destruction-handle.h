/*
 * What came of destroying a session.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_DESTRUCTION_HANDLE_H
#define VESTIGE_LTTNG_DESTRUCTION_HANDLE_H

#include <lttng/lttng-error.h>
#include <lttng/rotation.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_destruction_handle;

enum lttng_destruction_handle_status {
	LTTNG_DESTRUCTION_HANDLE_STATUS_ERROR = -2,
	LTTNG_DESTRUCTION_HANDLE_STATUS_INVALID = -1,
	LTTNG_DESTRUCTION_HANDLE_STATUS_OK = 0,
	LTTNG_DESTRUCTION_HANDLE_STATUS_COMPLETED = 1,
	LTTNG_DESTRUCTION_HANDLE_STATUS_TIMEOUT = 2,
};

void lttng_destruction_handle_destroy(struct lttng_destruction_handle *handle);

/* Returns COMPLETED at once: the session is gone when there is a handle. */
enum lttng_destruction_handle_status
lttng_destruction_handle_wait_for_completion(struct lttng_destruction_handle *handle,
					     int timeout_ms);

enum lttng_destruction_handle_status
lttng_destruction_handle_get_result(const struct lttng_destruction_handle *handle,
				    enum lttng_error_code *result);

enum lttng_destruction_handle_status
lttng_destruction_handle_get_rotation_state(const struct lttng_destruction_handle *handle,
					    enum lttng_rotation_state *rotation_state);

/* Only where the state of the rotation is COMPLETED; it belongs to the handle. */
enum lttng_destruction_handle_status lttng_destruction_handle_get_archive_location(
	const struct lttng_destruction_handle *handle,
	const struct lttng_trace_archive_location **location);

#ifdef __cplusplus
}
#endif

#endif
