/*
 * Subscribes to a condition and says each notification that comes, a line for each.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

#include <inttypes.h>

static void say_value(const struct lttng_event_field_value *value)
{
	const char *text;
	unsigned int length;
	uint64_t whole;
	int64_t number;
	double real;

	if (lttng_event_field_value_unsigned_int_get_value(value, &whole) == 0)
		printf("%" PRIu64, whole);
	else if (lttng_event_field_value_signed_int_get_value(value, &number) == 0)
		printf("%" PRId64, number);
	else if (lttng_event_field_value_real_get_value(value, &real) == 0)
		printf("%g", real);
	else if (lttng_event_field_value_string_get_value(value, &text) == 0)
		printf("'%s'", text);
	else if (lttng_event_field_value_array_get_length(value, &length) == 0) {
		printf("[");
		for (unsigned int i = 0; i < length; i++) {
			const struct lttng_event_field_value *element = NULL;

			printf(i ? " " : "");
			if (lttng_event_field_value_array_get_element_at_index(value, i,
									       &element) == 0)
				say_value(element);
			else
				printf("-");
		}
		printf("]");
	} else {
		printf("?");
	}
}

static void say_location(const struct lttng_evaluation *evaluation)
{
	const struct lttng_trace_archive_location *location;
	const char *path;

	if (lttng_evaluation_session_rotation_completed_get_location(evaluation, &location) == 0 &&
	    lttng_trace_archive_location_local_get_absolute_path(location, &path) == 0)
		printf(" at %s", path);
}

static void say(struct lttng_notification *notification)
{
	const struct lttng_evaluation *const evaluation =
		lttng_notification_get_evaluation(notification);
	const struct lttng_event_field_value *values;
	uint64_t number;
	double ratio;

	CHECK(lttng_condition_get_type(lttng_notification_get_condition(notification)) ==
	      lttng_evaluation_get_type(evaluation));
	printf("%d:", (int) lttng_evaluation_get_type(evaluation));
	if (lttng_evaluation_buffer_usage_get_usage_ratio(evaluation, &ratio) == 0)
		printf(" ratio %g", ratio);
	if (lttng_evaluation_buffer_usage_get_usage(evaluation, &number) == 0)
		printf(" bytes %" PRIu64, number);
	if (lttng_evaluation_session_consumed_size_get_consumed_size(evaluation, &number) == 0)
		printf(" consumed %" PRIu64, number);
	if (lttng_evaluation_session_rotation_get_id(evaluation, &number) == 0)
		printf(" rotation %" PRIu64, number);
	say_location(evaluation);
	if (lttng_evaluation_event_rule_matches_get_captured_values(evaluation, &values) == 0) {
		printf(" captured ");
		say_value(values);
	}
	printf("\n");
	lttng_notification_destroy(notification);
}

static struct lttng_condition *condition(void)
{
	struct lttng_condition *const made = lttng_condition_session_consumed_size_create();

	lttng_condition_session_consumed_size_set_session_name(made, "s");
	lttng_condition_session_consumed_size_set_threshold(made, 5);
	return made;
}

int main(void)
{
	struct lttng_notification_channel *const channel = lttng_notification_channel_create(
		lttng_session_daemon_notification_endpoint);
	struct lttng_condition *const wanted = condition();
	struct lttng_notification *notification;
	bool is_pending = false;
	int status;

	if (!channel) {
		puts("no daemon");
		return 2;
	}
	printf("subscribe %d\n", lttng_notification_channel_subscribe(channel, wanted));
	status = lttng_notification_channel_has_pending_notification(channel, &is_pending);
	if (status)
		printf("pending %d\n", status);
	do {
		status = lttng_notification_channel_get_next_notification(channel, &notification);
		if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
			say(notification);
		else
			printf("status %d\n", status);
	} while (status >= 0);
	lttng_notification_channel_destroy(channel);
	lttng_condition_destroy(wanted);
	return failures != 0;
}
