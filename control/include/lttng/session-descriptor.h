/*
 * Descriptions of sessions that are to be created.
 *
 * A name or a path that is NULL is chosen when the session is created. Creating a session that needs
 * a network returns LTTNG_ERR_NOT_SUPPORTED.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_SESSION_DESCRIPTOR_H
#define VESTIGE_LTTNG_SESSION_DESCRIPTOR_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_session_descriptor;

enum lttng_session_descriptor_status {
	LTTNG_SESSION_DESCRIPTOR_STATUS_INVALID = -1,
	LTTNG_SESSION_DESCRIPTOR_STATUS_OK = 0,
	LTTNG_SESSION_DESCRIPTOR_STATUS_UNSET = 1,
};

/* A session that writes nothing. */
struct lttng_session_descriptor *lttng_session_descriptor_create(const char *name);

/* A session with a trace in a directory. */
struct lttng_session_descriptor *lttng_session_descriptor_local_create(const char *name,
								       const char *path);

struct lttng_session_descriptor *lttng_session_descriptor_network_create(const char *name,
									 const char *control_url,
									 const char *data_url);

/* Sessions of which snapshots are taken. */
struct lttng_session_descriptor *lttng_session_descriptor_snapshot_create(const char *name);

struct lttng_session_descriptor *lttng_session_descriptor_snapshot_local_create(const char *name,
										const char *path);

struct lttng_session_descriptor *
lttng_session_descriptor_snapshot_network_create(const char *name, const char *control_url,
						 const char *data_url);

struct lttng_session_descriptor *
lttng_session_descriptor_live_create(const char *name, unsigned long long live_timer_interval_us);

struct lttng_session_descriptor *
lttng_session_descriptor_live_network_create(const char *name, const char *control_url,
					     const char *data_url,
					     unsigned long long live_timer_interval_us);

/* UNSET as long as no name was given or chosen. */
enum lttng_session_descriptor_status
lttng_session_descriptor_get_session_name(const struct lttng_session_descriptor *descriptor,
					  const char **name);

void lttng_session_descriptor_destroy(struct lttng_session_descriptor *descriptor);

#ifdef __cplusplus
}
#endif

#endif
