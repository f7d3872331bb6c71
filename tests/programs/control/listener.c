/*
 * listener TRIGGER: waits for what a trigger of this name tells, and prints the first captured
 * string of each notification. It ends with the daemon.
 *
 * It is what LTTng's document shows of notifications of event rules: a program finds a trigger
 * among all, and subscribes to its condition.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>

#include "checks.h"

static const struct lttng_condition *condition_of(const struct lttng_triggers *triggers,
						  const char *wanted)
{
	unsigned int count = 0;

	CHECK(lttng_triggers_get_count(triggers, &count) == LTTNG_TRIGGER_STATUS_OK);
	for (unsigned int index = 0; index < count; index++) {
		const struct lttng_trigger *const trigger =
			lttng_triggers_get_at_index(triggers, index);
		const char *name = NULL;

		/* Those that were registered without a name have none. */
		if (lttng_trigger_get_name(trigger, &name) == LTTNG_TRIGGER_STATUS_OK &&
		    strcmp(name, wanted) == 0)
			return lttng_trigger_get_const_condition(trigger);
	}
	return NULL;
}

static bool subscribe(struct lttng_notification_channel *channel, const char *name)
{
	struct lttng_triggers *triggers = NULL;
	const struct lttng_condition *condition;

	CHECK_CODE(lttng_list_triggers(&triggers), LTTNG_OK);
	condition = condition_of(triggers, name);
	if (condition)
		CHECK(lttng_notification_channel_subscribe(channel, condition) ==
		      LTTNG_NOTIFICATION_CHANNEL_STATUS_OK);
	lttng_triggers_destroy(triggers);
	return condition;
}

static void print_first(const struct lttng_evaluation *evaluation)
{
	const struct lttng_event_field_value *all = NULL, *first = NULL;
	const char *text = "(no text)";

	CHECK(lttng_evaluation_event_rule_matches_get_captured_values(evaluation, &all) ==
	      LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_OK);
	CHECK(lttng_event_field_value_array_get_element_at_index(all, 0, &first) ==
	      LTTNG_EVENT_FIELD_VALUE_STATUS_OK);
	CHECK(lttng_event_field_value_get_type(first) == LTTNG_EVENT_FIELD_VALUE_TYPE_STRING);
	CHECK(lttng_event_field_value_string_get_value(first, &text) ==
	      LTTNG_EVENT_FIELD_VALUE_STATUS_OK);
	puts(text);
}

/* Returns whether there may be more. */
static bool take_next(struct lttng_notification_channel *channel)
{
	struct lttng_notification *notification = NULL;

	switch (lttng_notification_channel_get_next_notification(channel, &notification)) {
	case LTTNG_NOTIFICATION_CHANNEL_STATUS_OK:
		print_first(lttng_notification_get_evaluation(notification));
		lttng_notification_destroy(notification);
		return true;
	case LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED:
		puts("(some are missing)");
		return true;
	case LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED:
		return false;
	default:
		CHECK(!"expected a notification or the end");
		return false;
	}
}

int main(int argc, char **argv)
{
	struct lttng_notification_channel *const channel =
		lttng_notification_channel_create(lttng_session_daemon_notification_endpoint);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2 || !channel || !subscribe(channel, argv[1])) {
		fprintf(stderr, "listener: cannot subscribe to `%s`\n", argc < 2 ? "" : argv[1]);
		failures++;
	} else {
		puts("(ready)");
		while (take_next(channel))
			;
	}
	lttng_notification_channel_destroy(channel);
	return failures != 0;
}
