/*
 * filling SESSION CHANNEL RATIO: prints how full the buffers of a channel are whenever they come
 * to be as full as the ratio says. It ends with the daemon.
 *
 * It is what LTTng's document shows of notifications of buffers: a program registers a trigger
 * of its own, without a name, and subscribes to its condition.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

#include <stdbool.h>

static struct lttng_condition *too_full(const char *session, const char *channel, double ratio)
{
	struct lttng_condition *const made = lttng_condition_buffer_usage_high_create();

	CHECK(!lttng_condition_buffer_usage_set_threshold_ratio(made, ratio));
	CHECK(!lttng_condition_buffer_usage_set_session_name(made, session));
	CHECK(!lttng_condition_buffer_usage_set_channel_name(made, channel));
	CHECK(!lttng_condition_buffer_usage_set_domain_type(made, LTTNG_DOMAIN_UST));
	return made;
}

static void print_usage(struct lttng_notification *notification, char **argv)
{
	double ratio = -1;

	CHECK(lttng_condition_get_type(lttng_notification_get_condition(notification)) ==
	      LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH);
	CHECK(!lttng_evaluation_buffer_usage_get_usage_ratio(
		lttng_notification_get_evaluation(notification), &ratio));
	printf("Buffer usage is %f %% in recording session \"%s\", user space channel \"%s\".\n",
	       100 * ratio, argv[1], argv[2]);
	lttng_notification_destroy(notification);
}

static bool take_next(struct lttng_notification_channel *channel, char **argv)
{
	struct lttng_notification *notification = NULL;
	const int status =
		lttng_notification_channel_get_next_notification(channel, &notification);

	if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
		print_usage(notification, argv);
	else if (status != LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED)
		CHECK(status == LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED);
	return status >= 0;
}

int main(int argc, char **argv)
{
	struct lttng_notification_channel *channel;
	struct lttng_condition *condition;
	struct lttng_action *action;
	struct lttng_trigger *trigger;

	if (argc < 4)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	channel = lttng_notification_channel_create(lttng_session_daemon_notification_endpoint);
	condition = too_full(argv[1], argv[2], strtod(argv[3], NULL));
	action = lttng_action_notify_create();
	trigger = lttng_trigger_create(condition, action);
	CHECK_CODE(lttng_register_trigger(trigger), 0);
	CHECK(!lttng_notification_channel_subscribe(channel, condition));
	puts("(ready)");
	while (!failures && take_next(channel, argv))
		;
	lttng_action_destroy(action);
	lttng_condition_destroy(condition);
	lttng_trigger_destroy(trigger);
	lttng_notification_channel_destroy(channel);
	return failures != 0;
}
