/*
 * Clearing a session: what was recorded so far is gone, recording goes on.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CLEAR_H
#define VESTIGE_LTTNG_CLEAR_H

#include <lttng/lttng-error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_clear_handle;

/* The place of the handle may be NULL. Returns LTTNG_OK, or why it was not cleared. */
enum lttng_error_code lttng_clear_session(const char *session_name,
					  struct lttng_clear_handle **handle);

#ifdef __cplusplus
}
#endif

#endif
