/*
 * Triggers, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_TRIGGER_H
#define VESTIGE_CONTROL_TRIGGER_H

#include <stdbool.h>
#include <sys/types.h>

#include <lttng/lttng.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

struct lttng_trigger {
	struct lttng_condition *condition;
	struct lttng_action *action;
	char *name;
	uid_t owner;
	bool has_owner;
	/* Whether the daemon is told that commands do not see it. */
	bool is_anonymous;
};

/* Write a trigger that is complete. */
void control_write_trigger(struct request *request, const char *name,
			   const struct lttng_trigger *trigger);

/* Return a trigger, NULL if it is none or there is no memory. */
struct lttng_trigger *control_read_trigger(const struct json *found);

/*
 * Write the name by which a daemon knows a trigger, which needs a buffer of
 * CONTROL_LONGEST_TRIGGER_NAME bytes if it has none of its own; return it, NULL without memory.
 */
const char *control_trigger_name(const struct lttng_trigger *trigger, char *buffer);

#define CONTROL_LONGEST_TRIGGER_NAME 32

#endif
