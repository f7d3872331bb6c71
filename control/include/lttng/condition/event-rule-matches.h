/*
 * A condition that an event rule matches an event, and what is captured of it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_EVENT_RULE_MATCHES_H
#define VESTIGE_LTTNG_CONDITION_EVENT_RULE_MATCHES_H

#include <lttng/condition/condition.h>
#include <lttng/condition/evaluation.h>
#include <lttng/event-rule/event-rule.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_expr;
struct lttng_event_field_value;

enum lttng_evaluation_event_rule_matches_status {
	LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_NONE = 1,
	LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_OK = 0,
	LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_INVALID = -1,
};

/* The condition has a part in the rule then; the caller keeps the own one. */
struct lttng_condition *lttng_condition_event_rule_matches_create(struct lttng_event_rule *rule);

enum lttng_condition_status
lttng_condition_event_rule_matches_get_rule(const struct lttng_condition *condition,
					    const struct lttng_event_rule **rule);

/* Give an array of what was captured, in the order of the descriptors; NONE if there are none. */
enum lttng_evaluation_event_rule_matches_status
lttng_evaluation_event_rule_matches_get_captured_values(
	const struct lttng_evaluation *evaluation,
	const struct lttng_event_field_value **field_val);

/* The condition takes the expression over. */
enum lttng_condition_status
lttng_condition_event_rule_matches_append_capture_descriptor(struct lttng_condition *condition,
							     struct lttng_event_expr *expr);

enum lttng_condition_status lttng_condition_event_rule_matches_get_capture_descriptor_count(
	const struct lttng_condition *condition, unsigned int *count);

const struct lttng_event_expr *lttng_condition_event_rule_matches_get_capture_descriptor_at_index(
	const struct lttng_condition *condition, unsigned int index);

#ifdef __cplusplus
}
#endif

#endif
