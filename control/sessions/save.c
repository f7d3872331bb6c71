/*
 * Saving configurations of sessions: the daemon gives their texts, files are written with the
 * rights of this program.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
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

struct lttng_save_session_attr {
	/* NULL for all. */
	char *session;
	/* NULL for the directory of the user. */
	char *url;
	int overwrite;
	int omit_name;
	int omit_output;
};

struct lttng_save_session_attr *lttng_save_session_attr_create(void)
{
	return calloc(1, sizeof(struct lttng_save_session_attr));
}

void lttng_save_session_attr_destroy(struct lttng_save_session_attr *output)
{
	if (!output)
		return;
	free(output->session);
	free(output->url);
	free(output);
}

const char *lttng_save_session_attr_get_session_name(struct lttng_save_session_attr *attr)
{
	return attr ? attr->session : NULL;
}

const char *lttng_save_session_attr_get_output_url(struct lttng_save_session_attr *attr)
{
	return attr ? attr->url : NULL;
}

int lttng_save_session_attr_get_overwrite(struct lttng_save_session_attr *attr)
{
	return attr ? attr->overwrite : -LTTNG_ERR_INVALID;
}

int lttng_save_session_attr_get_omit_name(struct lttng_save_session_attr *attr)
{
	return attr ? attr->omit_name : -LTTNG_ERR_INVALID;
}

int lttng_save_session_attr_get_omit_output(struct lttng_save_session_attr *attr)
{
	return attr ? attr->omit_output : -LTTNG_ERR_INVALID;
}

int lttng_save_session_attr_set_session_name(struct lttng_save_session_attr *attr,
					     const char *session_name)
{
	if (!attr || (session_name && strlen(session_name) >= LTTNG_NAME_MAX))
		return -LTTNG_ERR_INVALID;
	return control_replace(&attr->session, session_name) ? 0 : -LTTNG_ERR_NOMEM;
}

int lttng_save_session_attr_set_output_url(struct lttng_save_session_attr *attr, const char *url)
{
	if (!attr || (url && !control_local_path(url)))
		return -LTTNG_ERR_INVALID;
	return control_replace(&attr->url, url) ? 0 : -LTTNG_ERR_NOMEM;
}

int lttng_save_session_attr_set_overwrite(struct lttng_save_session_attr *attr, int overwrite)
{
	if (!attr)
		return -LTTNG_ERR_INVALID;
	attr->overwrite = overwrite != 0;
	return 0;
}

int lttng_save_session_attr_set_omit_name(struct lttng_save_session_attr *attr, int omit_name)
{
	if (!attr)
		return -LTTNG_ERR_INVALID;
	attr->omit_name = omit_name != 0;
	return 0;
}

int lttng_save_session_attr_set_omit_output(struct lttng_save_session_attr *attr, int omit_output)
{
	if (!attr)
		return -LTTNG_ERR_INVALID;
	attr->omit_output = omit_output != 0;
	return 0;
}

/* Make a directory with those above it; the path is as it was afterwards. */
static void make_folders(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(path, 0777);
		*at = '/';
	}
	mkdir(path, 0777);
}

static bool write_text(const char *path, const char *text)
{
	size_t left = strlen(text);
	const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	bool is_written = file >= 0;

	while (is_written && left) {
		const ssize_t written = write(file, text, left);

		if (written > 0) {
			text += written;
			left -= (size_t) written;
		} else if (errno != EINTR) {
			is_written = false;
		}
	}
	if (file >= 0 && close(file) != 0)
		is_written = false;
	return is_written;
}

/* Write a file as a whole, or not at all. */
static int save_one(const char *folder, const char *name, const char *text, bool may_replace)
{
	char *path = NULL, *partial = NULL;
	int code = -LTTNG_ERR_SAVE_IO_FAIL;

	/* What a daemon says is not to lead out of the directory. */
	if (strchr(name, '/') || asprintf(&path, "%s/%s.lttng", folder, name) < 0)
		return -LTTNG_ERR_SAVE_IO_FAIL;
	if (asprintf(&partial, "%s/.%s.lttng.%ld", folder, name, (long) getpid()) < 0) {
		free(path);
		return -LTTNG_ERR_NOMEM;
	}
	if (write_text(partial, text)) {
		if (may_replace ? rename(partial, path) == 0 : link(partial, path) == 0)
			code = 0;
		else if (errno == EEXIST)
			code = -LTTNG_ERR_SAVE_FILE_EXIST;
	}
	unlink(partial);
	free(partial);
	free(path);
	return code;
}

static char *folder_of(const struct lttng_save_session_attr *attr)
{
	char home[4096], *folder;

	if (attr->url)
		return strdup(control_local_path(attr->url));
	if (!control_home(home, sizeof(home)) ||
	    asprintf(&folder, "%s/.lttng/sessions", home) < 0)
		return NULL;
	return folder;
}

int lttng_save_session(struct lttng_save_session_attr *attr)
{
	struct answer answer;
	char *folder;
	int code;

	if (!attr)
		return -LTTNG_ERR_INVALID;
	/* Configurations have both. */
	if (attr->omit_name || attr->omit_output)
		return -LTTNG_ERR_NOT_SUPPORTED;
	folder = folder_of(attr);
	if (!folder)
		return -LTTNG_ERR_SAVE_IO_FAIL;
	code = control_ask_of_session("save", attr->session, &answer);
	if (!code) {
		make_folders(folder);
		for (CONTROL_EACH(one, control_member(answer.value, "documents"))) {
			if (!code && one->type == JSON_TEXT)
				code = save_one(folder, one->name, one->text, attr->overwrite);
		}
		control_free_answer(&answer);
	}
	free(folder);
	return code;
}
