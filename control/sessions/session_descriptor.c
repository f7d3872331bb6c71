/*
 * Descriptions of sessions, and creating what they describe.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/sockets.h"
#include "../protocol/text.h"

struct lttng_session_descriptor {
	char *name;
	/* The directory of the trace; NULL where it is to be chosen, or there is none. */
	char *path;
	bool is_local;
	bool is_snapshot;
	/* What there is no daemon for. */
	bool needs_network;
};

static struct lttng_session_descriptor *new_descriptor(const char *name, const char *path,
						       struct lttng_session_descriptor kind)
{
	struct lttng_session_descriptor *descriptor;

	if (path && !control_local_path(path))
		return NULL;
	descriptor = malloc(sizeof(*descriptor));
	if (!descriptor)
		return NULL;
	*descriptor = kind;
	if (!control_replace(&descriptor->name, name) ||
	    !control_replace(&descriptor->path, control_local_path(path))) {
		lttng_session_descriptor_destroy(descriptor);
		return NULL;
	}
	return descriptor;
}

struct lttng_session_descriptor *lttng_session_descriptor_create(const char *name)
{
	return new_descriptor(name, NULL, (struct lttng_session_descriptor) {0});
}

struct lttng_session_descriptor *lttng_session_descriptor_local_create(const char *name,
								       const char *path)
{
	return new_descriptor(name, path, (struct lttng_session_descriptor) {.is_local = true});
}

struct lttng_session_descriptor *lttng_session_descriptor_network_create(const char *name,
									 const char *control_url,
									 const char *data_url)
{
	(void) control_url;
	(void) data_url;
	return new_descriptor(name, NULL,
			      (struct lttng_session_descriptor) {.needs_network = true});
}

struct lttng_session_descriptor *lttng_session_descriptor_snapshot_create(const char *name)
{
	return new_descriptor(name, NULL,
			      (struct lttng_session_descriptor) {.is_snapshot = true});
}

struct lttng_session_descriptor *lttng_session_descriptor_snapshot_local_create(const char *name,
										const char *path)
{
	return new_descriptor(
		name, path,
		(struct lttng_session_descriptor) {.is_local = true, .is_snapshot = true});
}

struct lttng_session_descriptor *
lttng_session_descriptor_snapshot_network_create(const char *name, const char *control_url,
						 const char *data_url)
{
	return lttng_session_descriptor_network_create(name, control_url, data_url);
}

struct lttng_session_descriptor *
lttng_session_descriptor_live_create(const char *name, unsigned long long live_timer_interval_us)
{
	if (live_timer_interval_us == 0)
		return NULL;
	return lttng_session_descriptor_network_create(name, NULL, NULL);
}

struct lttng_session_descriptor *
lttng_session_descriptor_live_network_create(const char *name, const char *control_url,
					     const char *data_url,
					     unsigned long long live_timer_interval_us)
{
	if (live_timer_interval_us == 0)
		return NULL;
	return lttng_session_descriptor_network_create(name, control_url, data_url);
}

enum lttng_session_descriptor_status
lttng_session_descriptor_get_session_name(const struct lttng_session_descriptor *descriptor,
					  const char **name)
{
	if (!descriptor || !name)
		return LTTNG_SESSION_DESCRIPTOR_STATUS_INVALID;
	*name = descriptor->name;
	return *name ? LTTNG_SESSION_DESCRIPTOR_STATUS_OK : LTTNG_SESSION_DESCRIPTOR_STATUS_UNSET;
}

void lttng_session_descriptor_destroy(struct lttng_session_descriptor *descriptor)
{
	if (!descriptor)
		return;
	free(descriptor->name);
	free(descriptor->path);
	free(descriptor);
}

enum lttng_error_code
lttng_create_session_ext(struct lttng_session_descriptor *session_descriptor)
{
	struct request request;
	struct answer answer;
	char home[4096];
	int code;

	if (!session_descriptor)
		return LTTNG_ERR_INVALID;
	if (session_descriptor->needs_network)
		return LTTNG_ERR_NOT_SUPPORTED;
	control_begin_request(&request, "create");
	control_write_text(&request, "name", session_descriptor->name);
	control_write_text(&request, "output", session_descriptor->path);
	control_write_text(&request, "home", control_home(home, sizeof(home)) ? home : NULL);
	if (session_descriptor->is_snapshot)
		control_write_flag(&request, "snapshot", true);
	if (!session_descriptor->is_local)
		control_write_flag(&request, "no_output", true);
	code = control_ask(&request, &answer);
	if (code)
		return (enum lttng_error_code) - code;
	if (!control_replace(&session_descriptor->name,
			     control_text_member(answer.value, "name")))
		code = -LTTNG_ERR_NOMEM;
	control_free_answer(&answer);
	return code ? (enum lttng_error_code) - code : LTTNG_OK;
}

/* Create what a descriptor describes, and destroy it. */
static int create(struct lttng_session_descriptor *descriptor)
{
	enum lttng_error_code code = LTTNG_ERR_INVALID;

	if (descriptor)
		code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	return code == LTTNG_OK ? 0 : -(int) code;
}

/* Tell whether a URL names something in a network. */
static bool is_remote(const char *url)
{
	return url && !control_local_path(url) && strstr(url, "://");
}

int lttng_create_session(const char *name, const char *url)
{
	if (!name)
		return -LTTNG_ERR_INVALID;
	if (is_remote(url))
		return -LTTNG_ERR_NOT_SUPPORTED;
	return create(url ? lttng_session_descriptor_local_create(name, url)
			  : lttng_session_descriptor_create(name));
}

int lttng_create_session_snapshot(const char *name, const char *snapshot_url)
{
	if (!name)
		return -LTTNG_ERR_INVALID;
	if (is_remote(snapshot_url))
		return -LTTNG_ERR_NOT_SUPPORTED;
	return create(snapshot_url
			      ? lttng_session_descriptor_snapshot_local_create(name, snapshot_url)
			      : lttng_session_descriptor_snapshot_create(name));
}

int lttng_create_session_live(const char *name, const char *url, unsigned int timer_interval)
{
	(void) url;
	return name && timer_interval ? -LTTNG_ERR_NOT_SUPPORTED : -LTTNG_ERR_INVALID;
}
