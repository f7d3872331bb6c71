/*
 * Saving the configurations of sessions as files of LTTng.
 *
 * Getters give what belongs to the attributes. Setters return 0, or -LTTNG_ERR_INVALID.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_SAVE_H
#define VESTIGE_LTTNG_SAVE_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_save_session_attr;

struct lttng_save_session_attr *lttng_save_session_attr_create(void);

void lttng_save_session_attr_destroy(struct lttng_save_session_attr *output);

const char *lttng_save_session_attr_get_session_name(struct lttng_save_session_attr *attr);

const char *lttng_save_session_attr_get_output_url(struct lttng_save_session_attr *attr);

int lttng_save_session_attr_get_overwrite(struct lttng_save_session_attr *attr);

int lttng_save_session_attr_get_omit_name(struct lttng_save_session_attr *attr);

int lttng_save_session_attr_get_omit_output(struct lttng_save_session_attr *attr);

/* Without a name, all sessions are saved. */
int lttng_save_session_attr_set_session_name(struct lttng_save_session_attr *attr,
					     const char *session_name);

/* A directory, as an absolute path or with "file://"; without one, that of the user. */
int lttng_save_session_attr_set_output_url(struct lttng_save_session_attr *attr, const char *url);

int lttng_save_session_attr_set_overwrite(struct lttng_save_session_attr *attr, int overwrite);

int lttng_save_session_attr_set_omit_name(struct lttng_save_session_attr *attr, int omit_name);

int lttng_save_session_attr_set_omit_output(struct lttng_save_session_attr *attr,
					    int omit_output);

int lttng_save_session(struct lttng_save_session_attr *attr);

#ifdef __cplusplus
}
#endif

#endif
