/*
 * Setting up sessions from files that were saved.
 *
 * Getters give what belongs to the attributes. Setters return 0, or -LTTNG_ERR_INVALID.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_LOAD_H
#define VESTIGE_LTTNG_LOAD_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_load_session_attr;

struct lttng_load_session_attr *lttng_load_session_attr_create(void);

void lttng_load_session_attr_destroy(struct lttng_load_session_attr *attr);

const char *lttng_load_session_attr_get_session_name(struct lttng_load_session_attr *attr);

const char *lttng_load_session_attr_get_input_url(struct lttng_load_session_attr *attr);

int lttng_load_session_attr_get_overwrite(struct lttng_load_session_attr *attr);

const char *lttng_load_session_attr_get_override_url(struct lttng_load_session_attr *attr);

const char *lttng_load_session_attr_get_override_ctrl_url(struct lttng_load_session_attr *attr);

const char *lttng_load_session_attr_get_override_data_url(struct lttng_load_session_attr *attr);

const char *
lttng_load_session_attr_get_override_session_name(struct lttng_load_session_attr *attr);

/* Without a name, all sessions that are found are set up. */
int lttng_load_session_attr_set_session_name(struct lttng_load_session_attr *attr,
					     const char *session_name);

/* A file or a directory; without one, those of the user and of the system. */
int lttng_load_session_attr_set_input_url(struct lttng_load_session_attr *attr, const char *url);

int lttng_load_session_attr_set_overwrite(struct lttng_load_session_attr *attr, int overwrite);

/* Another directory for the trace. */
int lttng_load_session_attr_set_override_url(struct lttng_load_session_attr *attr,
					     const char *url);

/* Places in a network: loading with one returns -LTTNG_ERR_NOT_SUPPORTED. */
int lttng_load_session_attr_set_override_ctrl_url(struct lttng_load_session_attr *attr,
						  const char *url);

int lttng_load_session_attr_set_override_data_url(struct lttng_load_session_attr *attr,
						  const char *url);

int lttng_load_session_attr_set_override_session_name(struct lttng_load_session_attr *attr,
						      const char *session_name);

int lttng_load_session(struct lttng_load_session_attr *attr);

#ifdef __cplusplus
}
#endif

#endif
