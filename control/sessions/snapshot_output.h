/*
 * Where snapshots are written.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_SNAPSHOT_OUTPUT_H
#define VESTIGE_CONTROL_SNAPSHOT_OUTPUT_H

#include <stdbool.h>

#include <lttng/snapshot.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

struct lttng_snapshot_output {
	uint32_t id;
	uint64_t max_size;
	char *name;
	char *control_url;
	char *data_url;
};

/* Return a copy of an output, NULL without memory. */
struct lttng_snapshot_output *control_copy_output(const struct lttng_snapshot_output *output);

/* Tell whether two outputs are the same; NULL is one. */
bool control_same_output(const struct lttng_snapshot_output *first,
			 const struct lttng_snapshot_output *second);

/* Write an output as a member of a trigger's action. */
void control_write_output(struct request *request, const char *name,
			  const struct lttng_snapshot_output *output);

/* Return the output that a trigger's action has, NULL without memory. */
struct lttng_snapshot_output *control_read_output(const struct json *found);

#endif
