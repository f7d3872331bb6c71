/*
 * timed_notifications N: emits N events with pauses, each of which a trigger means, and waits for
 * the notification of each. Printed are microseconds from an event to its notification: the
 * median, and what 99 of 100 take at most. It is its own client, by LTTng's control library.
 */
#include <lttng/lttng.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points-tp.h"

enum { MOST = 100000, PAUSE = 1000, WARM = 20 };

static double taken[MOST];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e6 + (double) time.tv_nsec / 1e3;
}

static int compare(const void *left, const void *right)
{
	const double a = *(const double *) left;
	const double b = *(const double *) right;

	return (a > b) - (a < b);
}

static struct lttng_condition *condition_of_events(void)
{
	struct lttng_event_rule *rule = lttng_event_rule_user_tracepoint_create();

	if (rule == NULL ||
	    lttng_event_rule_user_tracepoint_set_name_pattern(rule, "points:*") !=
		    LTTNG_EVENT_RULE_STATUS_OK)
		return NULL;
	return lttng_condition_event_rule_matches_create(rule);
}

static int receive(struct lttng_notification_channel *channel)
{
	struct lttng_notification *notification;

	if (lttng_notification_channel_get_next_notification(channel, &notification) !=
	    LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
		return -1;
	lttng_notification_destroy(notification);
	return 0;
}

static int run(struct lttng_notification_channel *channel, int count)
{
	for (int i = -WARM; i < count; i++) {
		const double begin = now();

		lttng_ust_tracepoint(points, number_and_text, i, "a short text");
		if (receive(channel) != 0)
			return -1;
		if (i >= 0)
			taken[i] = now() - begin;
		usleep(PAUSE);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 1000;
	struct lttng_condition *condition = condition_of_events();
	struct lttng_trigger *trigger =
		lttng_trigger_create(condition, lttng_action_notify_create());
	struct lttng_notification_channel *channel =
		lttng_notification_channel_create(lttng_session_daemon_notification_endpoint);

	if (count < 1 || count > MOST || trigger == NULL || channel == NULL ||
	    lttng_register_trigger_with_automatic_name(trigger) != LTTNG_OK ||
	    lttng_notification_channel_subscribe(channel, condition) !=
		    LTTNG_NOTIFICATION_CHANNEL_STATUS_OK ||
	    run(channel, count) != 0)
		return 1;
	lttng_unregister_trigger(trigger);
	qsort(taken, (size_t) count, sizeof(*taken), compare);
	printf("median=%.1f p99=%.1f\n", taken[count / 2], taken[(long) count * 99 / 100]);
	return 0;
}
