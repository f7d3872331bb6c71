/*
 * Snapshots of sessions, and their outputs.
 *
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "snapshot_output.h"

struct lttng_snapshot_output_list {
	uint32_t count;
	/* That which was given last. */
	uint32_t next;
	struct lttng_snapshot_output *outputs[];
};

/* Write the members of a request that say where snapshots go. */
static void write_place(struct request *request, const struct lttng_snapshot_output *output)
{
	if (*output->control_url)
		control_write_text(request, "path", control_local_path(output->control_url));
	if (*output->name)
		control_write_text(request, "name", output->name);
	if (output->max_size != UINT64_MAX)
		control_write_whole(request, "max_size", output->max_size);
}

static bool is_remote(const struct lttng_snapshot_output *output)
{
	return *output->control_url && !control_local_path(output->control_url);
}

int lttng_snapshot_add_output(const char *session_name, struct lttng_snapshot_output *output)
{
	struct request request;
	struct answer answer;
	int code;

	if (!session_name || !output || !*output->control_url)
		return -LTTNG_ERR_INVALID;
	if (is_remote(output))
		return -LTTNG_ERR_NOT_SUPPORTED;
	control_begin_request(&request, "add-snapshot-output");
	control_write_text(&request, "session", session_name);
	write_place(&request, output);
	code = control_ask(&request, &answer);
	if (code)
		return code;
	output->id = (uint32_t) control_whole_member(answer.value, "number");
	control_free_answer(&answer);
	return 0;
}

int lttng_snapshot_del_output(const char *session_name, struct lttng_snapshot_output *output)
{
	struct request request;
	char number[16];

	if (!session_name || !output)
		return -LTTNG_ERR_INVALID;
	snprintf(number, sizeof(number), "%" PRIu32, output->id);
	control_begin_request(&request, "remove-snapshot-output");
	control_write_text(&request, "session", session_name);
	control_write_text(&request, "output",
			   output->id || !*output->name ? number : output->name);
	return control_ask(&request, NULL);
}

/* Return a list of the outputs, NULL without memory. */
static struct lttng_snapshot_output_list *copy_outputs(const struct json *outputs)
{
	struct lttng_snapshot_output_list *const list =
		calloc(1, sizeof(*list) + control_count(outputs) * sizeof(list->outputs[0]));

	if (!list)
		return NULL;
	for (CONTROL_EACH(one, outputs)) {
		struct lttng_snapshot_output *const output = control_read_output(one);

		if (!output) {
			lttng_snapshot_output_list_destroy(list);
			return NULL;
		}
		list->outputs[list->count++] = output;
	}
	return list;
}

int lttng_snapshot_list_output(const char *session_name, struct lttng_snapshot_output_list **list)
{
	struct lttng_snapshot_output_list *found;
	struct answer answer;
	int code;

	if (!session_name || !list)
		return -LTTNG_ERR_INVALID;
	code = control_ask_of_session("list-snapshot-outputs", session_name, &answer);
	if (code)
		return code;
	found = copy_outputs(control_member(answer.value, "outputs"));
	if (found)
		*list = found;
	control_free_answer(&answer);
	return found ? 0 : -LTTNG_ERR_NOMEM;
}

struct lttng_snapshot_output *
lttng_snapshot_output_list_get_next(struct lttng_snapshot_output_list *list)
{
	return list && list->next < list->count ? list->outputs[list->next++] : NULL;
}

void lttng_snapshot_output_list_destroy(struct lttng_snapshot_output_list *list)
{
	if (!list)
		return;
	for (uint32_t i = 0; i < list->count; i++)
		lttng_snapshot_output_destroy(list->outputs[i]);
	free(list);
}

int lttng_snapshot_record(const char *session_name, struct lttng_snapshot_output *output,
			  int wait)
{
	struct request request;

	(void) wait;
	if (!session_name)
		return -LTTNG_ERR_INVALID;
	if (output && is_remote(output))
		return -LTTNG_ERR_NOT_SUPPORTED;
	control_begin_request(&request, "record-snapshot");
	control_write_text(&request, "session", session_name);
	if (output)
		write_place(&request, output);
	return control_ask(&request, NULL);
}
