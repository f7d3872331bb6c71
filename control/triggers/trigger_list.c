/*
 * Lists of triggers.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "../protocol/connection.h"
#include "trigger.h"

struct lttng_triggers {
	unsigned int count;
	struct lttng_trigger *triggers[];
};

/* Return the triggers of an answer; NULL if one is none or there is no memory. */
static struct lttng_triggers *copy_triggers(const struct json *list)
{
	struct lttng_triggers *const found =
		calloc(1, sizeof(*found) + control_count(list) * sizeof(found->triggers[0]));

	if (!found)
		return NULL;
	for (CONTROL_EACH(one, list)) {
		struct lttng_trigger *const trigger = control_read_trigger(one);

		if (!trigger) {
			lttng_triggers_destroy(found);
			return NULL;
		}
		found->triggers[found->count++] = trigger;
	}
	return found;
}

enum lttng_error_code lttng_list_triggers(struct lttng_triggers **triggers)
{
	struct answer answer;
	int code;

	if (!triggers)
		return LTTNG_ERR_INVALID;
	code = control_ask_of_session("list-triggers", NULL, &answer);
	if (code)
		return (enum lttng_error_code) - code;
	*triggers = copy_triggers(control_member(answer.value, "triggers"));
	control_free_answer(&answer);
	return *triggers ? LTTNG_OK : LTTNG_ERR_INVALID_PROTOCOL;
}

const struct lttng_trigger *lttng_triggers_get_at_index(const struct lttng_triggers *triggers,
							unsigned int index)
{
	return triggers && index < triggers->count ? triggers->triggers[index] : NULL;
}

enum lttng_trigger_status lttng_triggers_get_count(const struct lttng_triggers *triggers,
						   unsigned int *count)
{
	if (!triggers || !count)
		return LTTNG_TRIGGER_STATUS_INVALID;
	*count = triggers->count;
	return LTTNG_TRIGGER_STATUS_OK;
}

void lttng_triggers_destroy(struct lttng_triggers *triggers)
{
	if (!triggers)
		return;
	for (unsigned int i = 0; i < triggers->count; i++)
		lttng_trigger_destroy(triggers->triggers[i]);
	free(triggers);
}
