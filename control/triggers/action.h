/*
 * Actions of triggers, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_ACTION_H
#define VESTIGE_CONTROL_ACTION_H

#include <stdatomic.h>
#include <stdbool.h>

#include <lttng/lttng.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

struct lttng_rate_policy {
	enum lttng_rate_policy_type type;
	uint64_t count;
};

struct lttng_action {
	atomic_uint owners;
	enum lttng_action_type type;
	char *session;
	struct lttng_rate_policy policy;
	struct lttng_snapshot_output *output;
	/* Those of a list. */
	struct lttng_action **actions;
	unsigned int count;
};

/* Return an action that is done each time, NULL without memory. */
struct lttng_action *control_new_action(enum lttng_action_type type);

/* Take a part in an action, which lttng_action_destroy() gives up. */
struct lttng_action *control_hold_action(struct lttng_action *action);

/* Tell whether all that it needs is set. */
bool control_is_complete_action(const struct lttng_action *action);

/* Write an action that is complete. */
void control_write_action(struct request *request, const char *name,
			  const struct lttng_action *action);

/* Return an action, NULL if it is none or there is no memory. */
struct lttng_action *control_read_action(const struct json *found);

#endif
