/*
 * Recording sessions.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_SESSION_H
#define VESTIGE_LTTNG_SESSION_H

#include <lttng/constant.h>
#include <lttng/lttng-error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_handle;
struct lttng_session_descriptor;
struct lttng_destruction_handle;

/* A session as it is listed. It is active if it is enabled. */
struct lttng_session {
	char name[LTTNG_NAME_MAX];
	char path[PATH_MAX];
	uint32_t enabled;
	uint32_t snapshot_mode;
	unsigned int live_timer_interval;
	char alignment_padding[4];
	union {
		char padding[8];
		void *ptr;
	} extended;
};

/* Create the session that a descriptor describes, and put the name it got there. */
enum lttng_error_code
lttng_create_session_ext(struct lttng_session_descriptor *session_descriptor);

/*
 * Create a session whose trace is in a directory, "/PATH" or "file:///PATH"; without one it
 * writes none.
 */
int lttng_create_session(const char *name, const char *url);

int lttng_create_session_snapshot(const char *name, const char *snapshot_url);

/* Needs a network: returns -LTTNG_ERR_NOT_SUPPORTED. */
int lttng_create_session_live(const char *name, const char *url, unsigned int timer_interval);

/* Destroy a session; its trace stays. All of them return when it is complete. */
int lttng_destroy_session(const char *name);

enum lttng_error_code lttng_destroy_session_ext(const char *session_name,
						struct lttng_destruction_handle **handle);

int lttng_destroy_session_no_wait(const char *name);

/* Return how many there are, and an array of them that is to be freed with free(). */
int lttng_list_sessions(struct lttng_session **sessions);

/* Give seconds since 1970, of a session that was listed. */
enum lttng_error_code lttng_session_get_creation_time(const struct lttng_session *session,
						      uint64_t *creation_time);

/* Put the ring buffers of a session that was never started into a directory. */
int lttng_set_session_shm_path(const char *session_name, const char *shm_path);

#ifdef __cplusplus
}
#endif

#endif
