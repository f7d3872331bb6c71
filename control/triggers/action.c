/*
 * Actions of triggers: see action.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "action.h"

#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"
#include "../sessions/snapshot_output.h"

#define ONCE_AFTER "once-after-n"

static const char *const names[] = {
	[LTTNG_ACTION_TYPE_NOTIFY] = "notify",
	[LTTNG_ACTION_TYPE_START_SESSION] = "start-session",
	[LTTNG_ACTION_TYPE_STOP_SESSION] = "stop-session",
	[LTTNG_ACTION_TYPE_ROTATE_SESSION] = "rotate-session",
	[LTTNG_ACTION_TYPE_SNAPSHOT_SESSION] = "snapshot-session",
	[LTTNG_ACTION_TYPE_LIST] = "list",
};

#define COUNT (sizeof(names) / sizeof(*names))

struct lttng_action *control_new_action(enum lttng_action_type type)
{
	struct lttng_action *const action = calloc(1, sizeof(*action));

	if (action) {
		atomic_init(&action->owners, 1);
		action->type = type;
		action->policy.type = LTTNG_RATE_POLICY_TYPE_EVERY_N;
		action->policy.count = 1;
	}
	return action;
}

struct lttng_action *control_hold_action(struct lttng_action *action)
{
	atomic_fetch_add(&action->owners, 1);
	return action;
}

enum lttng_action_type lttng_action_get_type(const struct lttng_action *action)
{
	return action ? action->type : LTTNG_ACTION_TYPE_UNKNOWN;
}

void lttng_action_destroy(struct lttng_action *action)
{
	if (!action || atomic_fetch_sub(&action->owners, 1) > 1)
		return;
	for (unsigned int i = 0; i < action->count; i++)
		lttng_action_destroy(action->actions[i]);
	free(action->actions);
	free(action->session);
	lttng_snapshot_output_destroy(action->output);
	free(action);
}

bool control_is_complete_action(const struct lttng_action *action)
{
	if (action->type == LTTNG_ACTION_TYPE_NOTIFY)
		return true;
	if (action->type != LTTNG_ACTION_TYPE_LIST)
		return action->session != NULL;
	for (unsigned int i = 0; i < action->count; i++) {
		if (!control_is_complete_action(action->actions[i]))
			return false;
	}
	return true;
}

static void write_policy(struct request *request, const struct lttng_rate_policy *policy)
{
	control_begin_object(request, "rate_policy");
	control_write_text(request, "type",
			   policy->type == LTTNG_RATE_POLICY_TYPE_EVERY_N ? "every-n"
									  : ONCE_AFTER);
	control_write_whole(request, "count", policy->count);
	control_end_object(request);
}

void control_write_action(struct request *request, const char *name,
			  const struct lttng_action *action)
{
	control_begin_object(request, name);
	control_write_text(request, "type", names[action->type]);
	if (action->type == LTTNG_ACTION_TYPE_LIST) {
		control_begin_list(request, "actions");
		for (unsigned int i = 0; i < action->count; i++)
			control_write_action(request, NULL, action->actions[i]);
		control_end_list(request);
	} else {
		write_policy(request, &action->policy);
	}
	if (action->session)
		control_write_text(request, "session", action->session);
	if (action->output)
		control_write_output(request, "output", action->output);
	control_end_object(request);
}

/* Fill in the members of an action; return false if one is none, or without memory. */
static bool fill(struct lttng_action *action, const struct json *found)
{
	const struct json *const policy = control_member(found, "rate_policy");
	const struct json *const output = control_member(found, "output");
	const char *const type = control_text_member(policy, "type");

	if (!control_replace(&action->session, control_text_member(found, "session")))
		return false;
	if (type) {
		action->policy.type = strcmp(type, ONCE_AFTER) == 0
			? LTTNG_RATE_POLICY_TYPE_ONCE_AFTER_N
			: LTTNG_RATE_POLICY_TYPE_EVERY_N;
		action->policy.count = control_whole_member(policy, "count");
	}
	if (output && output->type == JSON_OBJECT) {
		action->output = control_read_output(output);
		if (!action->output)
			return false;
	}
	for (CONTROL_EACH(one, control_member(found, "actions"))) {
		struct lttng_action *const element = control_read_action(one);
		const enum lttng_action_status status =
			lttng_action_list_add_action(action, element);

		lttng_action_destroy(element);
		if (status != LTTNG_ACTION_STATUS_OK)
			return false;
	}
	return true;
}

struct lttng_action *control_read_action(const struct json *found)
{
	const char *const type = control_text_member(found, "type");
	struct lttng_action *action;
	unsigned int number = 0;

	while (type && number < COUNT && strcmp(names[number], type) != 0)
		number++;
	if (!type || number == COUNT)
		return NULL;
	action = control_new_action((enum lttng_action_type) number);
	if (!action || fill(action, found))
		return action;
	lttng_action_destroy(action);
	return NULL;
}
