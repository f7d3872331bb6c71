/*
 * Snapshots: copies of what ring buffers hold, and where these go.
 *
 * Getters give what belongs to the output. Setters return 0, or -LTTNG_ERR_INVALID.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_SNAPSHOT_H
#define VESTIGE_LTTNG_SNAPSHOT_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_snapshot_output;
struct lttng_snapshot_output_list;

struct lttng_snapshot_output *lttng_snapshot_output_create(void);

void lttng_snapshot_output_destroy(struct lttng_snapshot_output *output);

uint32_t lttng_snapshot_output_get_id(const struct lttng_snapshot_output *output);

uint64_t lttng_snapshot_output_get_maxsize(const struct lttng_snapshot_output *output);

const char *lttng_snapshot_output_get_name(const struct lttng_snapshot_output *output);

const char *lttng_snapshot_output_get_ctrl_url(const struct lttng_snapshot_output *output);

const char *lttng_snapshot_output_get_data_url(const struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_id(uint32_t id, struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_size(uint64_t size, struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_name(const char *name, struct lttng_snapshot_output *output);

/* An absolute path, or "file://" with one. */
int lttng_snapshot_output_set_local_path(const char *path, struct lttng_snapshot_output *output);

/* Outputs over a network are kept as they are given; taking a snapshot to one is refused. */
int lttng_snapshot_output_set_network_url(const char *url, struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_network_urls(const char *ctrl_url, const char *data_url,
					   struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_ctrl_url(const char *url, struct lttng_snapshot_output *output);

int lttng_snapshot_output_set_data_url(const char *url, struct lttng_snapshot_output *output);

/* Add, remove or list the outputs of a session. Which is removed its number says. */
int lttng_snapshot_add_output(const char *session_name, struct lttng_snapshot_output *output);

int lttng_snapshot_del_output(const char *session_name, struct lttng_snapshot_output *output);

int lttng_snapshot_list_output(const char *session_name,
			       struct lttng_snapshot_output_list **list);

/* Return the next one, which belongs to the list; NULL at its end. */
struct lttng_snapshot_output *
lttng_snapshot_output_list_get_next(struct lttng_snapshot_output_list *list);

void lttng_snapshot_output_list_destroy(struct lttng_snapshot_output_list *list);

/*
 * Take a snapshot, to the output or to the session's if it is NULL. It is complete then, whether
 * or not this is to wait.
 */
int lttng_snapshot_record(const char *session_name, struct lttng_snapshot_output *output,
			  int wait);

#ifdef __cplusplus
}
#endif

#endif
