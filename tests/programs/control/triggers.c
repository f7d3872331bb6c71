/*
 * Registers triggers of all kinds, and looks at what the daemon says that they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

static struct lttng_condition *matching(struct lttng_event_rule *rule)
{
	struct lttng_condition *const condition = lttng_condition_event_rule_matches_create(rule);

	CHECK(condition != NULL);
	lttng_event_rule_destroy(rule);
	return condition;
}

/* Register a trigger with a condition and an action, which it takes over; return it as listed. */
static struct lttng_triggers *registered(struct lttng_condition *condition,
					 struct lttng_action *action, const char *name)
{
	struct lttng_trigger *const trigger = lttng_trigger_create(condition, action);
	struct lttng_triggers *triggers = NULL;
	unsigned int count = 0;
	const char *given;
	uid_t owner;

	lttng_condition_destroy(condition);
	lttng_action_destroy(action);
	CHECK_CODE(lttng_trigger_get_name(trigger, &given), LTTNG_TRIGGER_STATUS_UNSET);
	CHECK_CODE(lttng_trigger_get_owner_uid(trigger, &owner), LTTNG_TRIGGER_STATUS_UNSET);
	CHECK_CODE(lttng_register_trigger_with_name(trigger, name), LTTNG_OK);
	CHECK_CODE(lttng_trigger_get_name(trigger, &given), LTTNG_TRIGGER_STATUS_OK);
	CHECK_TEXT(given, name);
	CHECK_CODE(lttng_trigger_get_owner_uid(trigger, &owner), LTTNG_TRIGGER_STATUS_OK);
	CHECK_CODE(lttng_list_triggers(&triggers), LTTNG_OK);
	CHECK_CODE(lttng_triggers_get_count(triggers, &count), LTTNG_TRIGGER_STATUS_OK);
	CHECK(count == 1);
	CHECK_CODE(lttng_unregister_trigger(trigger), 0);
	CHECK_CODE(lttng_unregister_trigger(trigger), -LTTNG_ERR_TRIGGER_NOT_FOUND);
	lttng_trigger_destroy(trigger);
	return triggers;
}

static const struct lttng_event_rule *rule_of(const struct lttng_triggers *triggers)
{
	const struct lttng_event_rule *rule = NULL;

	CHECK_CODE(lttng_condition_event_rule_matches_get_rule(
			   lttng_trigger_get_const_condition(
				   lttng_triggers_get_at_index(triggers, 0)),
			   &rule),
		   LTTNG_CONDITION_STATUS_OK);
	return rule;
}

static struct lttng_event_expr *element(const char *name, unsigned int index)
{
	return lttng_event_expr_array_field_element_create(
		lttng_event_expr_event_payload_field_create(name), index);
}

static void check_captures(const struct lttng_condition *condition)
{
	struct lttng_event_expr *const wanted = element("numbers", 3);
	const struct lttng_event_expr *capture;
	unsigned int count = 0, index = 0;

	CHECK_CODE(lttng_condition_event_rule_matches_get_capture_descriptor_count(condition,
										    &count),
		   LTTNG_CONDITION_STATUS_OK);
	CHECK(count == 4);
	capture = lttng_condition_event_rule_matches_get_capture_descriptor_at_index(condition, 0);
	CHECK_TEXT(lttng_event_expr_event_payload_field_get_name(capture), "size");
	CHECK(lttng_event_expr_channel_context_field_get_name(capture) == NULL);
	capture = lttng_condition_event_rule_matches_get_capture_descriptor_at_index(condition, 1);
	CHECK_TEXT(lttng_event_expr_channel_context_field_get_name(capture), "vtid");
	capture = lttng_condition_event_rule_matches_get_capture_descriptor_at_index(condition, 2);
	CHECK_TEXT(lttng_event_expr_app_specific_context_field_get_provider_name(capture), "p");
	CHECK_TEXT(lttng_event_expr_app_specific_context_field_get_type_name(capture), "t");
	capture = lttng_condition_event_rule_matches_get_capture_descriptor_at_index(condition, 3);
	CHECK(lttng_event_expr_is_equal(capture, wanted));
	CHECK(!lttng_event_expr_is_equal(capture, NULL));
	CHECK_CODE(lttng_event_expr_array_field_element_get_index(capture, &index), 0);
	CHECK(index == 3);
	lttng_event_expr_destroy(wanted);
	CHECK(lttng_condition_event_rule_matches_get_capture_descriptor_at_index(condition, 4) ==
	      NULL);
}

static void check_user_rule(const struct lttng_event_rule *rule)
{
	const struct lttng_log_level_rule *levels;
	const char *text;
	unsigned int count = 0;
	int level = 0;

	CHECK(lttng_event_rule_get_type(rule) == LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT);
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_name_pattern(rule, &text), 0);
	CHECK_TEXT(text, "app:*");
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_filter(rule, &text), 0);
	CHECK_TEXT(text, "size > 5");
	CHECK_CODE(lttng_event_rule_jul_logging_get_filter(rule, &text),
		   LTTNG_EVENT_RULE_STATUS_INVALID);
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_log_level_rule(rule, &levels), 0);
	CHECK_CODE(lttng_log_level_rule_exactly_get_level(levels, &level),
		   LTTNG_LOG_LEVEL_RULE_STATUS_INVALID);
	CHECK_CODE(lttng_log_level_rule_at_least_as_severe_as_get_level(levels, &level), 0);
	CHECK(level == LTTNG_LOGLEVEL_WARNING);
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_name_pattern_exclusion_count(rule, &count),
		   0);
	CHECK(count == 2);
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_name_pattern_exclusion_at_index(rule, 1,
											&text),
		   0);
	CHECK_TEXT(text, "app:\"b*");
}

static void user_tracepoints(void)
{
	struct lttng_event_rule *const rule = lttng_event_rule_user_tracepoint_create();
	struct lttng_log_level_rule *const levels =
		lttng_log_level_rule_at_least_as_severe_as_create(LTTNG_LOGLEVEL_WARNING);
	struct lttng_condition *condition;
	struct lttng_triggers *triggers;
	const char *text;

	CHECK_CODE(lttng_event_rule_user_tracepoint_get_name_pattern(rule, &text), 0);
	CHECK_TEXT(text, "*");
	CHECK_CODE(lttng_event_rule_user_tracepoint_get_filter(rule, &text),
		   LTTNG_EVENT_RULE_STATUS_UNSET);
	CHECK_CODE(lttng_event_rule_user_tracepoint_set_name_pattern(rule, "app:*"), 0);
	CHECK_CODE(lttng_event_rule_user_tracepoint_set_filter(rule, "size > 5"), 0);
	CHECK_CODE(lttng_event_rule_user_tracepoint_set_log_level_rule(rule, levels), 0);
	CHECK_CODE(lttng_event_rule_user_tracepoint_add_name_pattern_exclusion(rule, "app:a*"), 0);
	CHECK_CODE(lttng_event_rule_user_tracepoint_add_name_pattern_exclusion(rule, "app:\"b*"),
		   0);
	lttng_log_level_rule_destroy(levels);
	condition = matching(rule);
	CHECK_CODE(lttng_condition_event_rule_matches_append_capture_descriptor(
			   condition, lttng_event_expr_event_payload_field_create("size")),
		   0);
	CHECK_CODE(lttng_condition_event_rule_matches_append_capture_descriptor(
			   condition, lttng_event_expr_channel_context_field_create("vtid")),
		   0);
	CHECK_CODE(lttng_condition_event_rule_matches_append_capture_descriptor(
			   condition, lttng_event_expr_app_specific_context_field_create("p", "t")),
		   0);
	CHECK_CODE(lttng_condition_event_rule_matches_append_capture_descriptor(
			   condition, element("numbers", 3)),
		   0);
	triggers = registered(condition, lttng_action_notify_create(), "user");
	check_user_rule(rule_of(triggers));
	check_captures(lttng_trigger_get_const_condition(lttng_triggers_get_at_index(triggers, 0)));
	lttng_triggers_destroy(triggers);
}

static void loggers(void)
{
	struct lttng_event_rule *const rule = lttng_event_rule_python_logging_create();
	struct lttng_log_level_rule *const levels = lttng_log_level_rule_exactly_create(30);
	const struct lttng_log_level_rule *found;
	struct lttng_triggers *triggers;
	int level = 0;

	CHECK_CODE(lttng_event_rule_python_logging_set_name_pattern(rule, "a.b"), 0);
	CHECK_CODE(lttng_event_rule_python_logging_set_log_level_rule(rule, levels), 0);
	lttng_log_level_rule_destroy(levels);
	triggers = registered(matching(rule), lttng_action_notify_create(), "logger");
	CHECK_CODE(lttng_event_rule_python_logging_get_log_level_rule(rule_of(triggers), &found),
		   0);
	CHECK_CODE(lttng_log_level_rule_exactly_get_level(found, &level), 0);
	CHECK(level == 30);
	lttng_triggers_destroy(triggers);
}

static void buffers(void)
{
	struct lttng_condition *condition = lttng_condition_buffer_usage_high_create();
	const struct lttng_condition *listed;
	struct lttng_triggers *triggers;
	enum lttng_domain_type domain;
	uint64_t bytes = 0;
	double ratio = 0;
	const char *text;

	CHECK_CODE(lttng_condition_buffer_usage_get_session_name(condition, &text),
		   LTTNG_CONDITION_STATUS_UNSET);
	CHECK_CODE(lttng_condition_buffer_usage_set_threshold_ratio(condition, 1.5),
		   LTTNG_CONDITION_STATUS_INVALID);
	CHECK_CODE(lttng_condition_buffer_usage_set_threshold_ratio(condition, .75), 0);
	CHECK_CODE(lttng_condition_buffer_usage_get_threshold(condition, &bytes),
		   LTTNG_CONDITION_STATUS_UNSET);
	CHECK_CODE(lttng_condition_buffer_usage_set_session_name(condition, "s"), 0);
	CHECK_CODE(lttng_condition_buffer_usage_set_channel_name(condition, "c"), 0);
	CHECK_CODE(lttng_condition_buffer_usage_set_domain_type(condition, LTTNG_DOMAIN_UST), 0);
	CHECK_CODE(lttng_condition_session_rotation_get_session_name(condition, &text),
		   LTTNG_CONDITION_STATUS_INVALID);
	triggers = registered(condition, lttng_action_notify_create(), "usage");
	listed = lttng_trigger_get_const_condition(lttng_triggers_get_at_index(triggers, 0));
	CHECK(lttng_condition_get_type(listed) == LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH);
	CHECK_CODE(lttng_condition_buffer_usage_get_threshold_ratio(listed, &ratio), 0);
	CHECK(ratio == .75);
	CHECK_CODE(lttng_condition_buffer_usage_get_channel_name(listed, &text), 0);
	CHECK_TEXT(text, "c");
	CHECK_CODE(lttng_condition_buffer_usage_get_domain_type(listed, &domain), 0);
	CHECK(domain == LTTNG_DOMAIN_UST);
	lttng_triggers_destroy(triggers);
}

static struct lttng_condition *consumed(uint64_t bytes)
{
	struct lttng_condition *const condition = lttng_condition_session_consumed_size_create();

	CHECK_CODE(lttng_condition_session_consumed_size_set_session_name(condition, "s"), 0);
	CHECK_CODE(lttng_condition_session_consumed_size_set_threshold(condition, bytes), 0);
	return condition;
}

static void check_snapshot_action(const struct lttng_action *action)
{
	const struct lttng_snapshot_output *output;
	const struct lttng_rate_policy *policy;
	const char *text;
	uint64_t number = 0;

	CHECK_CODE(lttng_action_snapshot_session_get_session_name(action, &text), 0);
	CHECK_TEXT(text, "flight");
	CHECK_CODE(lttng_action_snapshot_session_get_output(action, &output), 0);
	CHECK_TEXT(lttng_snapshot_output_get_name(output), "taken");
	CHECK(lttng_snapshot_output_get_maxsize(output) == 1 << 20);
	CHECK_CODE(lttng_action_snapshot_session_get_rate_policy(action, &policy), 0);
	CHECK_CODE(lttng_rate_policy_every_n_get_interval(policy, &number),
		   LTTNG_RATE_POLICY_STATUS_INVALID);
	CHECK_CODE(lttng_rate_policy_once_after_n_get_threshold(policy, &number), 0);
	CHECK(number == 7);
}

static void actions(void)
{
	struct lttng_action *const list = lttng_action_list_create();
	struct lttng_action *const start = lttng_action_start_session_create();
	struct lttng_action *const snapshot = lttng_action_snapshot_session_create();
	struct lttng_snapshot_output *const output = lttng_snapshot_output_create();
	struct lttng_rate_policy *const policy = lttng_rate_policy_once_after_n_create(7);
	const struct lttng_action *listed;
	struct lttng_triggers *triggers;
	const char *text;
	unsigned int count = 0;

	CHECK(lttng_rate_policy_every_n_create(0) == NULL);
	CHECK_CODE(lttng_action_start_session_get_session_name(start, &text),
		   LTTNG_ACTION_STATUS_UNSET);
	CHECK_CODE(lttng_action_start_session_set_session_name(start, "one"), 0);
	CHECK_CODE(lttng_action_stop_session_set_session_name(start, "one"),
		   LTTNG_ACTION_STATUS_INVALID);
	CHECK_CODE(lttng_action_snapshot_session_set_session_name(snapshot, "flight"), 0);
	CHECK_CODE(lttng_snapshot_output_set_name("taken", output), 0);
	CHECK_CODE(lttng_snapshot_output_set_size(1 << 20, output), 0);
	CHECK_CODE(lttng_snapshot_output_set_local_path("relative", output), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_snapshot_output_set_local_path("/tmp/taken", output), 0);
	CHECK_CODE(lttng_action_snapshot_session_set_output(snapshot, output), 0);
	CHECK_CODE(lttng_action_snapshot_session_set_rate_policy(snapshot, policy), 0);
	lttng_rate_policy_destroy(policy);
	CHECK_CODE(lttng_action_list_add_action(list, start), 0);
	CHECK_CODE(lttng_action_list_add_action(list, snapshot), 0);
	CHECK_CODE(lttng_action_list_add_action(list, list), LTTNG_ACTION_STATUS_INVALID);
	lttng_action_destroy(start);
	lttng_action_destroy(snapshot);
	triggers = registered(consumed(1000), list, "several");
	listed = lttng_trigger_get_const_action(lttng_triggers_get_at_index(triggers, 0));
	CHECK_CODE(lttng_action_list_get_count(listed, &count), 0);
	CHECK(count == 2);
	CHECK_CODE(lttng_action_start_session_get_session_name(
			   lttng_action_list_get_at_index(listed, 0), &text),
		   0);
	CHECK_TEXT(text, "one");
	check_snapshot_action(lttng_action_list_get_at_index(listed, 1));
	CHECK(lttng_action_list_get_at_index(listed, 2) == NULL);
	lttng_triggers_destroy(triggers);
}

static void without_a_name(void)
{
	struct lttng_condition *const condition = consumed(2000);
	struct lttng_action *const action = lttng_action_notify_create();
	struct lttng_trigger *const one = lttng_trigger_create(condition, action);
	struct lttng_trigger *const equal = lttng_trigger_create(condition, action);
	struct lttng_triggers *triggers = NULL;
	const char *name;

	CHECK_CODE(lttng_register_trigger(one), 0);
	CHECK_CODE(lttng_trigger_get_name(one, &name), LTTNG_TRIGGER_STATUS_UNSET);
	CHECK_CODE(lttng_register_trigger(equal), -LTTNG_ERR_TRIGGER_EXISTS);
	CHECK_CODE(lttng_list_triggers(&triggers), LTTNG_OK);
	CHECK_CODE(lttng_trigger_get_name(lttng_triggers_get_at_index(triggers, 0), &name),
		   LTTNG_TRIGGER_STATUS_UNSET);
	CHECK_CODE(lttng_unregister_trigger(lttng_triggers_get_at_index(triggers, 0)), 0);
	CHECK_CODE(lttng_unregister_trigger(one), -LTTNG_ERR_TRIGGER_NOT_FOUND);
	CHECK_CODE(lttng_register_trigger_with_automatic_name(equal), LTTNG_OK);
	CHECK_CODE(lttng_trigger_get_name(equal, &name), LTTNG_TRIGGER_STATUS_OK);
	CHECK_CODE(lttng_unregister_trigger(equal), 0);
	lttng_triggers_destroy(triggers);
	lttng_trigger_destroy(one);
	lttng_trigger_destroy(equal);
	lttng_condition_destroy(condition);
	lttng_action_destroy(action);
}

static void incomplete(void)
{
	struct lttng_condition *const condition = lttng_condition_session_rotation_ongoing_create();
	struct lttng_action *const action = lttng_action_stop_session_create();
	struct lttng_trigger *const trigger = lttng_trigger_create(condition, action);
	struct lttng_notification_channel *const channel = lttng_notification_channel_create(
		lttng_session_daemon_notification_endpoint);

	CHECK(lttng_trigger_create(NULL, action) == NULL);
	CHECK_CODE(lttng_register_trigger_with_name(trigger, "x"), LTTNG_ERR_INVALID_TRIGGER);
	CHECK_CODE(lttng_register_trigger(trigger), -LTTNG_ERR_INVALID_TRIGGER);
	CHECK_CODE(lttng_register_trigger(NULL), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_notification_channel_subscribe(channel, condition),
		   LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID);
	CHECK(lttng_notification_channel_create(lttng_session_daemon_command_endpoint) == NULL);
	lttng_notification_channel_destroy(channel);
	lttng_trigger_destroy(trigger);
	lttng_condition_destroy(condition);
	lttng_action_destroy(action);
}

static void errors(void)
{
	struct lttng_condition *const condition = consumed(3000);
	struct lttng_action *const action = lttng_action_notify_create();
	struct lttng_trigger *const trigger = lttng_trigger_create(condition, action);
	struct lttng_action_path *const path = lttng_action_path_create(NULL, 0);
	struct lttng_error_query *const query = lttng_error_query_action_create(trigger, path);
	struct lttng_error_query_results *results = NULL;
	const struct lttng_error_query_result *result;
	unsigned int count = 0;
	uint64_t value = 5;
	const char *name;

	lttng_trigger_destroy(trigger);
	CHECK_CODE(lttng_error_query_execute(query, lttng_session_daemon_command_endpoint,
					     &results),
		   LTTNG_ERR_TRIGGER_NOT_FOUND);
	lttng_error_query_destroy(query);
	{
		struct lttng_trigger *const named = lttng_trigger_create(condition, action);
		struct lttng_error_query *of_action;

		CHECK_CODE(lttng_register_trigger_with_name(named, "counted"), LTTNG_OK);
		of_action = lttng_error_query_action_create(named, path);
		CHECK_CODE(lttng_error_query_execute(
				   of_action, lttng_session_daemon_command_endpoint, &results),
			   LTTNG_OK);
		CHECK_CODE(lttng_error_query_results_get_count(results, &count), 0);
		CHECK(count == 1);
		CHECK_CODE(lttng_error_query_results_get_result(results, &result, 0), 0);
		CHECK_CODE(lttng_error_query_result_get_name(result, &name), 0);
		CHECK_TEXT(name, "total execution failures");
		CHECK_CODE(lttng_error_query_result_counter_get_value(result, &value), 0);
		CHECK(value == 0);
		lttng_error_query_results_destroy(results);
		lttng_error_query_destroy(of_action);
		CHECK_CODE(lttng_unregister_trigger(named), 0);
		lttng_trigger_destroy(named);
	}
	lttng_action_path_destroy(path);
	lttng_condition_destroy(condition);
	lttng_action_destroy(action);
}

int main(void)
{
	user_tracepoints();
	loggers();
	buffers();
	actions();
	without_a_name();
	incomplete();
	errors();
	return failures != 0;
}
