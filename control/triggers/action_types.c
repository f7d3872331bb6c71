/*
 * Actions of each type, policies and paths: what programs call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"
#include "action.h"

static struct lttng_rate_policy *new_policy(enum lttng_rate_policy_type type, uint64_t count)
{
	struct lttng_rate_policy *const policy = count ? malloc(sizeof(*policy)) : NULL;

	if (policy) {
		policy->type = type;
		policy->count = count;
	}
	return policy;
}

static enum lttng_rate_policy_status get_count(const struct lttng_rate_policy *policy,
					       enum lttng_rate_policy_type type, uint64_t *count)
{
	if (!policy || policy->type != type || !count)
		return LTTNG_RATE_POLICY_STATUS_INVALID;
	*count = policy->count;
	return LTTNG_RATE_POLICY_STATUS_OK;
}

enum lttng_rate_policy_type lttng_rate_policy_get_type(const struct lttng_rate_policy *policy)
{
	return policy ? policy->type : LTTNG_RATE_POLICY_TYPE_UNKNOWN;
}

struct lttng_rate_policy *lttng_rate_policy_every_n_create(uint64_t interval)
{
	return new_policy(LTTNG_RATE_POLICY_TYPE_EVERY_N, interval);
}

enum lttng_rate_policy_status
lttng_rate_policy_every_n_get_interval(const struct lttng_rate_policy *policy, uint64_t *interval)
{
	return get_count(policy, LTTNG_RATE_POLICY_TYPE_EVERY_N, interval);
}

struct lttng_rate_policy *lttng_rate_policy_once_after_n_create(uint64_t threshold)
{
	return new_policy(LTTNG_RATE_POLICY_TYPE_ONCE_AFTER_N, threshold);
}

enum lttng_rate_policy_status
lttng_rate_policy_once_after_n_get_threshold(const struct lttng_rate_policy *policy,
					     uint64_t *threshold)
{
	return get_count(policy, LTTNG_RATE_POLICY_TYPE_ONCE_AFTER_N, threshold);
}

void lttng_rate_policy_destroy(struct lttng_rate_policy *policy)
{
	free(policy);
}

static enum lttng_action_status set_policy(struct lttng_action *action,
					   enum lttng_action_type type,
					   const struct lttng_rate_policy *policy)
{
	if (!action || action->type != type || !policy)
		return LTTNG_ACTION_STATUS_INVALID;
	action->policy = *policy;
	return LTTNG_ACTION_STATUS_OK;
}

static enum lttng_action_status get_policy(const struct lttng_action *action,
					   enum lttng_action_type type,
					   const struct lttng_rate_policy **policy)
{
	if (!action || action->type != type || !policy)
		return LTTNG_ACTION_STATUS_INVALID;
	*policy = &action->policy;
	return LTTNG_ACTION_STATUS_OK;
}

static enum lttng_action_status set_session(struct lttng_action *action,
					    enum lttng_action_type type, const char *name)
{
	if (!action || action->type != type || !name || !*name || strlen(name) >= LTTNG_NAME_MAX)
		return LTTNG_ACTION_STATUS_INVALID;
	return control_replace(&action->session, name) ? LTTNG_ACTION_STATUS_OK
						       : LTTNG_ACTION_STATUS_ERROR;
}

static enum lttng_action_status get_session(const struct lttng_action *action,
					    enum lttng_action_type type, const char **name)
{
	if (!action || action->type != type || !name)
		return LTTNG_ACTION_STATUS_INVALID;
	if (!action->session)
		return LTTNG_ACTION_STATUS_UNSET;
	*name = action->session;
	return LTTNG_ACTION_STATUS_OK;
}

/* The functions of all actions but lists, and those of actions on sessions. */
#define WITH_POLICY(what, kind)                                                             \
	struct lttng_action *lttng_action_##what##_create(void)                             \
	{                                                                                   \
		return control_new_action(LTTNG_ACTION_TYPE_##kind);                        \
	}                                                                                   \
	enum lttng_action_status lttng_action_##what##_set_rate_policy(                     \
		struct lttng_action *action, const struct lttng_rate_policy *policy)        \
	{                                                                                   \
		return set_policy(action, LTTNG_ACTION_TYPE_##kind, policy);                \
	}                                                                                   \
	enum lttng_action_status lttng_action_##what##_get_rate_policy(                     \
		const struct lttng_action *action, const struct lttng_rate_policy **policy) \
	{                                                                                   \
		return get_policy(action, LTTNG_ACTION_TYPE_##kind, policy);                \
	}

#define WITH_SESSION(what, kind)                                            \
	WITH_POLICY(what, kind)                                             \
	enum lttng_action_status lttng_action_##what##_set_session_name(    \
		struct lttng_action *action, const char *name)              \
	{                                                                   \
		return set_session(action, LTTNG_ACTION_TYPE_##kind, name); \
	}                                                                   \
	enum lttng_action_status lttng_action_##what##_get_session_name(    \
		const struct lttng_action *action, const char **name)       \
	{                                                                   \
		return get_session(action, LTTNG_ACTION_TYPE_##kind, name); \
	}

WITH_POLICY(notify, NOTIFY)
WITH_SESSION(start_session, START_SESSION)
WITH_SESSION(stop_session, STOP_SESSION)
WITH_SESSION(rotate_session, ROTATE_SESSION)
WITH_SESSION(snapshot_session, SNAPSHOT_SESSION)

enum lttng_action_status
lttng_action_snapshot_session_set_output(struct lttng_action *action,
					 struct lttng_snapshot_output *output)
{
	if (!action || action->type != LTTNG_ACTION_TYPE_SNAPSHOT_SESSION || !output)
		return LTTNG_ACTION_STATUS_INVALID;
	lttng_snapshot_output_destroy(action->output);
	action->output = output;
	return LTTNG_ACTION_STATUS_OK;
}

enum lttng_action_status
lttng_action_snapshot_session_get_output(const struct lttng_action *action,
					 const struct lttng_snapshot_output **output)
{
	if (!action || action->type != LTTNG_ACTION_TYPE_SNAPSHOT_SESSION || !output)
		return LTTNG_ACTION_STATUS_INVALID;
	if (!action->output)
		return LTTNG_ACTION_STATUS_UNSET;
	*output = action->output;
	return LTTNG_ACTION_STATUS_OK;
}

struct lttng_action *lttng_action_list_create(void)
{
	return control_new_action(LTTNG_ACTION_TYPE_LIST);
}

enum lttng_action_status lttng_action_list_add_action(struct lttng_action *list,
						      struct lttng_action *action)
{
	struct lttng_action **larger;

	/* Lists have no lists in them, and thus never themselves. */
	if (!list || list->type != LTTNG_ACTION_TYPE_LIST || !action ||
	    action->type == LTTNG_ACTION_TYPE_LIST)
		return LTTNG_ACTION_STATUS_INVALID;
	larger = realloc(list->actions, (list->count + 1) * sizeof(*larger));
	if (!larger)
		return LTTNG_ACTION_STATUS_ERROR;
	list->actions = larger;
	larger[list->count++] = control_hold_action(action);
	return LTTNG_ACTION_STATUS_OK;
}

enum lttng_action_status lttng_action_list_get_count(const struct lttng_action *list,
						     unsigned int *count)
{
	if (!list || list->type != LTTNG_ACTION_TYPE_LIST || !count)
		return LTTNG_ACTION_STATUS_INVALID;
	*count = list->count;
	return LTTNG_ACTION_STATUS_OK;
}

const struct lttng_action *lttng_action_list_get_at_index(const struct lttng_action *list,
							  unsigned int index)
{
	if (!list || list->type != LTTNG_ACTION_TYPE_LIST || index >= list->count)
		return NULL;
	return list->actions[index];
}
