/*
 * Where snapshots are written: see snapshot_output.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "snapshot_output.h"

#include <stdlib.h>
#include <string.h>

#include <lttng/lttng-error.h>

#include "../protocol/text.h"

#define NO_LIMIT UINT64_MAX

struct lttng_snapshot_output *lttng_snapshot_output_create(void)
{
	struct lttng_snapshot_output *const output = calloc(1, sizeof(*output));

	if (!output)
		return NULL;
	output->max_size = NO_LIMIT;
	/* Getters of texts never give NULL. */
	if (!control_replace(&output->name, "") || !control_replace(&output->control_url, "") ||
	    !control_replace(&output->data_url, "")) {
		lttng_snapshot_output_destroy(output);
		return NULL;
	}
	return output;
}

void lttng_snapshot_output_destroy(struct lttng_snapshot_output *output)
{
	if (!output)
		return;
	free(output->name);
	free(output->control_url);
	free(output->data_url);
	free(output);
}

struct lttng_snapshot_output *control_copy_output(const struct lttng_snapshot_output *output)
{
	struct lttng_snapshot_output *const copy = lttng_snapshot_output_create();

	if (!copy)
		return NULL;
	copy->id = output->id;
	copy->max_size = output->max_size;
	if (control_replace(&copy->name, output->name) &&
	    control_replace(&copy->control_url, output->control_url) &&
	    control_replace(&copy->data_url, output->data_url))
		return copy;
	lttng_snapshot_output_destroy(copy);
	return NULL;
}

bool control_same_output(const struct lttng_snapshot_output *first,
			 const struct lttng_snapshot_output *second)
{
	if (!first || !second)
		return first == second;
	return first->max_size == second->max_size &&
		control_same_text(first->name, second->name) &&
		control_same_text(first->control_url, second->control_url) &&
		control_same_text(first->data_url, second->data_url);
}

uint32_t lttng_snapshot_output_get_id(const struct lttng_snapshot_output *output)
{
	return output ? output->id : 0;
}

uint64_t lttng_snapshot_output_get_maxsize(const struct lttng_snapshot_output *output)
{
	return output ? output->max_size : 0;
}

const char *lttng_snapshot_output_get_name(const struct lttng_snapshot_output *output)
{
	return output ? output->name : NULL;
}

const char *lttng_snapshot_output_get_ctrl_url(const struct lttng_snapshot_output *output)
{
	return output ? output->control_url : NULL;
}

const char *lttng_snapshot_output_get_data_url(const struct lttng_snapshot_output *output)
{
	return output ? output->data_url : NULL;
}

int lttng_snapshot_output_set_id(uint32_t id, struct lttng_snapshot_output *output)
{
	if (!output || id == 0)
		return -LTTNG_ERR_INVALID;
	output->id = id;
	return 0;
}

int lttng_snapshot_output_set_size(uint64_t size, struct lttng_snapshot_output *output)
{
	if (!output)
		return -LTTNG_ERR_INVALID;
	output->max_size = size;
	return 0;
}

int lttng_snapshot_output_set_name(const char *name, struct lttng_snapshot_output *output)
{
	if (!output || !name)
		return -LTTNG_ERR_INVALID;
	return control_replace(&output->name, name) ? 0 : -LTTNG_ERR_NOMEM;
}

int lttng_snapshot_output_set_local_path(const char *path, struct lttng_snapshot_output *output)
{
	if (!control_local_path(path))
		return -LTTNG_ERR_INVALID;
	return lttng_snapshot_output_set_ctrl_url(path, output);
}

static bool has_scheme(const char *url, const char *scheme)
{
	return strncmp(url, scheme, strlen(scheme)) == 0;
}

int lttng_snapshot_output_set_network_url(const char *url, struct lttng_snapshot_output *output)
{
	if (!url || (!has_scheme(url, "net://") && !has_scheme(url, "net6://")))
		return -LTTNG_ERR_INVALID;
	return lttng_snapshot_output_set_ctrl_url(url, output);
}

int lttng_snapshot_output_set_network_urls(const char *ctrl_url, const char *data_url,
					   struct lttng_snapshot_output *output)
{
	int code;

	if (!ctrl_url || (!has_scheme(ctrl_url, "tcp://") && !has_scheme(ctrl_url, "tcp6://")) ||
	    !data_url || (!has_scheme(data_url, "tcp://") && !has_scheme(data_url, "tcp6://")))
		return -LTTNG_ERR_INVALID;
	code = lttng_snapshot_output_set_ctrl_url(ctrl_url, output);
	return code ? code : lttng_snapshot_output_set_data_url(data_url, output);
}

int lttng_snapshot_output_set_ctrl_url(const char *url, struct lttng_snapshot_output *output)
{
	if (!output || !url || (!control_local_path(url) && !strstr(url, "://")))
		return -LTTNG_ERR_INVALID;
	return control_replace(&output->control_url, url) ? 0 : -LTTNG_ERR_NOMEM;
}

int lttng_snapshot_output_set_data_url(const char *url, struct lttng_snapshot_output *output)
{
	if (!output || !url || (!control_local_path(url) && !strstr(url, "://")))
		return -LTTNG_ERR_INVALID;
	return control_replace(&output->data_url, url) ? 0 : -LTTNG_ERR_NOMEM;
}

void control_write_output(struct request *request, const char *name,
			  const struct lttng_snapshot_output *output)
{
	const char *const path = control_local_path(output->control_url);

	control_begin_object(request, name);
	if (*output->name)
		control_write_text(request, "name", output->name);
	if (output->max_size != NO_LIMIT)
		control_write_whole(request, "max_size", output->max_size);
	if (path) {
		control_write_text(request, "path", path);
	} else if (*output->data_url) {
		control_write_text(request, "ctrl_url", output->control_url);
		control_write_text(request, "data_url", output->data_url);
	} else {
		control_write_text(request, "url", output->control_url);
	}
	control_end_object(request);
}

struct lttng_snapshot_output *control_read_output(const struct json *found)
{
	static const char *const places[] = {"path", "url", "ctrl_url"};
	struct lttng_snapshot_output *const output = lttng_snapshot_output_create();
	const char *const name = control_text_member(found, "name");
	const char *const data_url = control_text_member(found, "data_url");
	bool is_read = output != NULL;

	if (!output)
		return NULL;
	output->id = (uint32_t) control_whole_member(found, "number");
	if (control_whole_member(found, "max_size"))
		output->max_size = control_whole_member(found, "max_size");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const char *const place = control_text_member(found, places[i]);

		is_read = is_read && (!place || control_replace(&output->control_url, place));
	}
	if (is_read && (!name || control_replace(&output->name, name)) &&
	    (!data_url || control_replace(&output->data_url, data_url)))
		return output;
	lttng_snapshot_output_destroy(output);
	return NULL;
}
