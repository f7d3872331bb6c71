/*
 * Sessions: what works on a whole one.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"

/* More than any clock has: above it, there is no such number. */
#define MOST_SECONDS 1e18

/* What a session that was listed has, and its structure has no place for. */
struct extension {
	uint64_t created;
};

static void fill(struct lttng_session *session, struct extension *extension,
		 const struct json *found)
{
	const double created = control_real_member(found, "created");

	control_copy(session->name, sizeof(session->name), control_text_member(found, "name"));
	control_copy(session->path, sizeof(session->path), control_text_member(found, "output"));
	session->enabled = control_flag_member(found, "active");
	session->snapshot_mode = control_flag_member(found, "is_snapshot");
	extension->created = created > 0 && created < MOST_SECONDS ? (uint64_t) created : 0;
	session->extended.ptr = extension;
}

int lttng_list_sessions(struct lttng_session **sessions)
{
	const struct json *list;
	struct answer answer;
	struct lttng_session *found, *next;
	struct extension *extensions;
	size_t count;
	int code;

	if (!sessions)
		return -LTTNG_ERR_INVALID;
	code = control_ask_of_session("list", NULL, &answer);
	if (code)
		return code;
	list = control_member(answer.value, "sessions");
	count = control_count(list);
	/* In one piece, since who asked frees one. */
	found = calloc(count ? count : 1, sizeof(*found) + sizeof(*extensions));
	if (found) {
		extensions = (struct extension *) (found + count);
		next = found;
		for (CONTROL_EACH(one, list))
			fill(next++, extensions++, one);
		*sessions = found;
	}
	control_free_answer(&answer);
	return found ? (int) count : -LTTNG_ERR_NOMEM;
}

enum lttng_error_code lttng_session_get_creation_time(const struct lttng_session *session,
						      uint64_t *creation_time)
{
	if (!session || !creation_time || !session->extended.ptr)
		return LTTNG_ERR_INVALID;
	*creation_time = ((const struct extension *) session->extended.ptr)->created;
	return LTTNG_OK;
}

static int ask_of_session(const char *verb, const char *name)
{
	return name ? control_ask_of_session(verb, name, NULL) : -LTTNG_ERR_INVALID;
}

int lttng_start_tracing(const char *session_name)
{
	return ask_of_session("start", session_name);
}

int lttng_stop_tracing(const char *session_name)
{
	return ask_of_session("stop", session_name);
}

int lttng_stop_tracing_no_wait(const char *session_name)
{
	return lttng_stop_tracing(session_name);
}

int lttng_data_pending(const char *session_name)
{
	struct answer answer;
	bool is_active;
	int code;

	if (!session_name)
		return -LTTNG_ERR_INVALID;
	code = control_ask_of_session("describe", session_name, &answer);
	if (code)
		return code;
	is_active = control_flag_member(answer.value, "active");
	control_free_answer(&answer);
	/* The daemon has written all before it says that a session is stopped. */
	return is_active ? -LTTNG_ERR_SESSION_STARTED : 0;
}

static int regenerate(const char *session, const char *what)
{
	struct request request;

	if (!session)
		return -LTTNG_ERR_INVALID;
	control_begin_request(&request, "regenerate");
	control_write_text(&request, "session", session);
	control_write_text(&request, "what", what);
	return control_ask(&request, NULL);
}

int lttng_regenerate_metadata(const char *session_name)
{
	return regenerate(session_name, "metadata");
}

int lttng_metadata_regenerate(const char *session_name)
{
	return lttng_regenerate_metadata(session_name);
}

int lttng_regenerate_statedump(const char *session_name)
{
	return regenerate(session_name, "statedump");
}

int lttng_set_session_shm_path(const char *session_name, const char *shm_path)
{
	struct request request;

	if (!session_name || !shm_path || *shm_path != '/')
		return -LTTNG_ERR_INVALID;
	control_begin_request(&request, "set-shm-path");
	control_write_text(&request, "session", session_name);
	control_write_text(&request, "shm_path", shm_path);
	return control_ask(&request, NULL);
}

int lttng_session_daemon_alive(void)
{
	struct connection connection;
	const bool is_alive = control_connect(&connection) == 0;

	control_disconnect(&connection);
	return is_alive;
}

int lttng_register_consumer(struct lttng_handle *handle, const char *socket_path)
{
	return handle && socket_path ? -LTTNG_ERR_UND : -LTTNG_ERR_INVALID;
}

int lttng_calibrate(struct lttng_handle *handle, struct lttng_calibrate *calibrate)
{
	(void) handle;
	(void) calibrate;
	return -LTTNG_ERR_UND;
}

int lttng_set_consumer_url(struct lttng_handle *handle, const char *control_url,
			   const char *data_url)
{
	if (!handle || (!control_url && !data_url))
		return -LTTNG_ERR_INVALID;
	return -LTTNG_ERR_NOT_SUPPORTED;
}
