/*
 * How often something went wrong for a trigger.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "trigger.h"

enum target { TARGET_TRIGGER, TARGET_CONDITION, TARGET_ACTION };

struct lttng_error_query {
	enum target target;
	/* By which the daemon knows the trigger. */
	char *name;
	uid_t owner;
	bool has_owner;
	/* Which action of the trigger: that of its list, or its own. */
	bool is_in_list;
	uint64_t index;
};

struct lttng_error_query_result {
	char *name;
	char *description;
	uint64_t value;
};

struct lttng_error_query_results {
	unsigned int count;
	struct lttng_error_query_result results[];
};

static struct lttng_error_query *new_query(enum target target,
					   const struct lttng_trigger *trigger)
{
	char buffer[CONTROL_LONGEST_TRIGGER_NAME];
	struct lttng_error_query *query;
	const char *name;

	if (!trigger)
		return NULL;
	name = control_trigger_name(trigger, buffer);
	query = calloc(1, sizeof(*query));
	if (!query)
		return NULL;
	query->target = target;
	query->owner = trigger->owner;
	query->has_owner = trigger->has_owner;
	if (name && control_replace(&query->name, name))
		return query;
	free(query);
	return NULL;
}

struct lttng_error_query *lttng_error_query_trigger_create(const struct lttng_trigger *trigger)
{
	return new_query(TARGET_TRIGGER, trigger);
}

struct lttng_error_query *lttng_error_query_condition_create(const struct lttng_trigger *trigger)
{
	return new_query(TARGET_CONDITION, trigger);
}

struct lttng_error_query *
lttng_error_query_action_create(const struct lttng_trigger *trigger,
				const struct lttng_action_path *action_path)
{
	const struct lttng_action *const action = lttng_trigger_get_const_action(trigger);
	struct lttng_error_query *query;
	uint64_t index = 0;
	size_t count;

	/* Lists have no lists in them: longer paths lead nowhere. */
	if (lttng_action_path_get_index_count(action_path, &count) !=
		    LTTNG_ACTION_PATH_STATUS_OK ||
	    count > 1)
		return NULL;
	if (count == 1) {
		unsigned int actions = 0;

		lttng_action_path_get_index_at_index(action_path, 0, &index);
		lttng_action_list_get_count(action, &actions);
		if (index >= actions)
			return NULL;
	}
	query = new_query(TARGET_ACTION, trigger);
	if (query) {
		query->is_in_list = count == 1;
		query->index = index;
	}
	return query;
}

void lttng_error_query_destroy(struct lttng_error_query *query)
{
	if (!query)
		return;
	free(query->name);
	free(query);
}

/* Return the trigger of a query, NULL if it is not there. */
static const struct json *find_trigger(const struct lttng_error_query *query,
				       const struct json *triggers)
{
	for (CONTROL_EACH(one, triggers)) {
		if (control_same_text(control_text_member(one, "name"), query->name) &&
		    (!query->has_owner ||
		     control_integer_member(one, "owner_uid", -1) == (int64_t) query->owner))
			return one;
	}
	return NULL;
}

/* Return the part of a trigger that a query is for. */
static const struct json *find_target(const struct lttng_error_query *query,
				      const struct json *trigger)
{
	const struct json *target = trigger;

	if (query->target == TARGET_CONDITION)
		target = control_member(trigger, "condition");
	if (query->target == TARGET_ACTION)
		target = control_member(trigger, "action");
	if (query->target == TARGET_ACTION && query->is_in_list)
		target = control_element(control_member(target, "actions"), query->index);
	return target;
}

static struct lttng_error_query_results *copy_results(const struct json *errors)
{
	struct lttng_error_query_results *const results =
		calloc(1, sizeof(*results) + control_count(errors) * sizeof(results->results[0]));

	if (!results)
		return NULL;
	for (CONTROL_EACH(one, errors)) {
		struct lttng_error_query_result *const result =
			&results->results[results->count++];

		result->value = control_whole_member(one, "value");
		if (!control_replace(&result->name, control_text_member(one, "name")) ||
		    !control_replace(&result->description,
				     control_text_member(one, "description"))) {
			lttng_error_query_results_destroy(results);
			return NULL;
		}
	}
	return results;
}

enum lttng_error_code lttng_error_query_execute(const struct lttng_error_query *query,
						const struct lttng_endpoint *endpoint,
						struct lttng_error_query_results **results)
{
	const struct json *trigger;
	struct answer answer;
	int code;

	if (!query || !results)
		return LTTNG_ERR_INVALID;
	if (endpoint != lttng_session_daemon_command_endpoint)
		return LTTNG_ERR_INVALID_ERROR_QUERY_TARGET;
	code = control_ask_of_session("list-triggers", NULL, &answer);
	if (code)
		return (enum lttng_error_code) - code;
	trigger = find_trigger(query, control_member(answer.value, "triggers"));
	if (!trigger) {
		control_free_answer(&answer);
		return LTTNG_ERR_TRIGGER_NOT_FOUND;
	}
	*results = copy_results(control_member(find_target(query, trigger), "errors"));
	control_free_answer(&answer);
	return *results ? LTTNG_OK : LTTNG_ERR_NOMEM;
}

void lttng_error_query_results_destroy(struct lttng_error_query_results *results)
{
	if (!results)
		return;
	for (unsigned int i = 0; i < results->count; i++) {
		free(results->results[i].name);
		free(results->results[i].description);
	}
	free(results);
}

enum lttng_error_query_results_status
lttng_error_query_results_get_count(const struct lttng_error_query_results *results,
				    unsigned int *count)
{
	if (!results || !count)
		return LTTNG_ERROR_QUERY_RESULTS_STATUS_INVALID_PARAMETER;
	*count = results->count;
	return LTTNG_ERROR_QUERY_RESULTS_STATUS_OK;
}

enum lttng_error_query_results_status
lttng_error_query_results_get_result(const struct lttng_error_query_results *results,
				     const struct lttng_error_query_result **result,
				     unsigned int index)
{
	if (!results || !result || index >= results->count)
		return LTTNG_ERROR_QUERY_RESULTS_STATUS_INVALID_PARAMETER;
	*result = &results->results[index];
	return LTTNG_ERROR_QUERY_RESULTS_STATUS_OK;
}

enum lttng_error_query_result_type
lttng_error_query_result_get_type(const struct lttng_error_query_result *result)
{
	return result ? LTTNG_ERROR_QUERY_RESULT_TYPE_COUNTER
		      : LTTNG_ERROR_QUERY_RESULT_TYPE_UNKNOWN;
}

enum lttng_error_query_result_status
lttng_error_query_result_get_name(const struct lttng_error_query_result *result,
				  const char **name)
{
	if (!result || !name)
		return LTTNG_ERROR_QUERY_RESULT_STATUS_INVALID_PARAMETER;
	*name = result->name;
	return LTTNG_ERROR_QUERY_RESULT_STATUS_OK;
}

enum lttng_error_query_result_status
lttng_error_query_result_get_description(const struct lttng_error_query_result *result,
					 const char **description)
{
	if (!result || !description)
		return LTTNG_ERROR_QUERY_RESULT_STATUS_INVALID_PARAMETER;
	*description = result->description;
	return LTTNG_ERROR_QUERY_RESULT_STATUS_OK;
}

enum lttng_error_query_result_status
lttng_error_query_result_counter_get_value(const struct lttng_error_query_result *result,
					   uint64_t *value)
{
	if (!result || !value)
		return LTTNG_ERROR_QUERY_RESULT_STATUS_INVALID_PARAMETER;
	*value = result->value;
	return LTTNG_ERROR_QUERY_RESULT_STATUS_OK;
}
