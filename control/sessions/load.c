/*
 * Setting up sessions from files: they are read with the rights of this program, and the daemon
 * gets their texts.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/sockets.h"
#include "../protocol/text.h"

#define SYSTEM_FOLDER "/etc/lttng/sessions"
#define ENDING ".lttng"
/* Bytes of a configuration. */
#define LARGEST_FILE (8u << 20)

struct lttng_load_session_attr {
	/* NULL for all. */
	char *session;
	/* NULL for the directories of user and system. */
	char *input_url;
	char *override_name;
	char *override_url;
	char *override_control_url;
	char *override_data_url;
	int overwrite;
};

struct lttng_load_session_attr *lttng_load_session_attr_create(void)
{
	return calloc(1, sizeof(struct lttng_load_session_attr));
}

void lttng_load_session_attr_destroy(struct lttng_load_session_attr *attr)
{
	if (!attr)
		return;
	free(attr->session);
	free(attr->input_url);
	free(attr->override_name);
	free(attr->override_url);
	free(attr->override_control_url);
	free(attr->override_data_url);
	free(attr);
}

/* Functions that give an attribute, and set it if it fits. */
#define ATTRIBUTE(what, member, fits)                                                        \
	const char *lttng_load_session_attr_get_##what(struct lttng_load_session_attr *attr) \
	{                                                                                    \
		return attr ? attr->member : NULL;                                           \
	}                                                                                    \
	int lttng_load_session_attr_set_##what(struct lttng_load_session_attr *attr,         \
					       const char *text)                             \
	{                                                                                    \
		if (!attr || (text && !(fits)))                                              \
			return -LTTNG_ERR_INVALID;                                           \
		return control_replace(&attr->member, text) ? 0 : -LTTNG_ERR_NOMEM;          \
	}

ATTRIBUTE(session_name, session, strlen(text) < LTTNG_NAME_MAX)
ATTRIBUTE(input_url, input_url, control_local_path(text))
ATTRIBUTE(override_session_name, override_name, strlen(text) < LTTNG_NAME_MAX)
ATTRIBUTE(override_url, override_url, control_local_path(text) || strstr(text, "://"))
ATTRIBUTE(override_ctrl_url, override_control_url, strstr(text, "://"))
ATTRIBUTE(override_data_url, override_data_url, strstr(text, "://"))

int lttng_load_session_attr_get_overwrite(struct lttng_load_session_attr *attr)
{
	return attr ? attr->overwrite : -LTTNG_ERR_INVALID;
}

int lttng_load_session_attr_set_overwrite(struct lttng_load_session_attr *attr, int overwrite)
{
	if (!attr)
		return -LTTNG_ERR_INVALID;
	attr->overwrite = overwrite != 0;
	return 0;
}

/* Return what is in a file, NULL if it cannot be read or is too large. */
static char *read_file(const char *path)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *text = NULL;
	size_t length = 0;

	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size <= (off_t) LARGEST_FILE)
		text = malloc((size_t) status.st_size + 1);
	while (text && length < (size_t) status.st_size) {
		const ssize_t got = read(file, text + length, (size_t) status.st_size - length);

		if (got > 0) {
			length += (size_t) got;
		} else if (got == 0 || errno != EINTR) {
			free(text);
			text = NULL;
		}
	}
	if (text)
		text[length] = '\0';
	close(file);
	return text;
}

/* Set up the sessions of a file; count those that were. */
static int load_file(const struct lttng_load_session_attr *attr, const char *path,
		     unsigned int *loaded)
{
	char *const text = read_file(path);
	struct request request;
	struct answer answer;
	int code;

	if (!text)
		return -LTTNG_ERR_LOAD_IO_FAIL;
	control_begin_request(&request, "load");
	control_write_text(&request, "text", text);
	control_write_text(&request, "path", path);
	control_write_text(&request, "session", attr->session);
	control_write_flag(&request, "force", attr->overwrite);
	control_write_text(&request, "override_name", attr->override_name);
	control_write_text(&request, "override_output", control_local_path(attr->override_url));
	free(text);
	code = control_ask(&request, &answer);
	if (code)
		return code;
	*loaded += control_count(control_member(answer.value, "sessions"));
	control_free_answer(&answer);
	return 0;
}

static int is_configuration(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > sizeof(ENDING) - 1 &&
		strcmp(entry->d_name + length - (sizeof(ENDING) - 1), ENDING) == 0;
}

/* Set up the sessions of all files in a directory. */
static int load_folder(const struct lttng_load_session_attr *attr, const char *folder,
		       unsigned int *loaded)
{
	struct dirent **entries;
	const int count = scandir(folder, &entries, is_configuration, alphasort);
	int code = 0;

	if (count < 0)
		return -LTTNG_ERR_LOAD_IO_FAIL;
	for (int i = 0; i < count; i++) {
		char *path;

		if (!code && asprintf(&path, "%s/%s", folder, entries[i]->d_name) >= 0) {
			code = load_file(attr, path, loaded);
			free(path);
		}
		free(entries[i]);
	}
	free(entries);
	return code;
}

static int load_path(const struct lttng_load_session_attr *attr, const char *path,
		     unsigned int *loaded)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return errno == ENOENT ? -LTTNG_ERR_LOAD_SESSION_NOENT : -LTTNG_ERR_LOAD_IO_FAIL;
	return S_ISDIR(status.st_mode) ? load_folder(attr, path, loaded)
				       : load_file(attr, path, loaded);
}

/* Set up what user and system have in their directories; these need not be there. */
static int load_by_default(const struct lttng_load_session_attr *attr, unsigned int *loaded)
{
	char home[4096], *own = NULL;
	int code = 0;

	if (control_home(home, sizeof(home)) && asprintf(&own, "%s/.lttng/sessions", home) >= 0) {
		code = load_path(attr, own, loaded);
		free(own);
	}
	if (!code || code == -LTTNG_ERR_LOAD_SESSION_NOENT)
		code = load_path(attr, SYSTEM_FOLDER, loaded);
	return code == -LTTNG_ERR_LOAD_SESSION_NOENT ? 0 : code;
}

int lttng_load_session(struct lttng_load_session_attr *attr)
{
	unsigned int loaded = 0;
	int code;

	if (!attr)
		return -LTTNG_ERR_INVALID;
	if (attr->override_control_url || attr->override_data_url ||
	    (attr->override_url && !control_local_path(attr->override_url)))
		return -LTTNG_ERR_NOT_SUPPORTED;
	code = attr->input_url ? load_path(attr, control_local_path(attr->input_url), &loaded)
			       : load_by_default(attr, &loaded);
	if (!code && attr->session && !loaded)
		return -LTTNG_ERR_LOAD_SESSION_NOENT;
	return code;
}
