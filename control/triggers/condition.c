/*
 * Conditions of triggers: see condition.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "condition.h"

#include <stdlib.h>
#include <string.h>

#include "../channels/domain_names.h"
#include "../protocol/text.h"
#include "event_expr.h"
#include "event_rule.h"

static const char *const names[] = {
	"session-consumed-size",    "buffer-usage-high",          "buffer-usage-low",
	"session-rotation-ongoing", "session-rotation-completed", "event-rule-matches",
};

/* The types are numbered from here on. */
#define FIRST LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE
#define COUNT (sizeof(names) / sizeof(*names))

const char *control_condition_name(enum lttng_condition_type type)
{
	return names[type - FIRST];
}

enum lttng_condition_type control_condition_type(const char *name)
{
	for (size_t i = 0; name && i < COUNT; i++) {
		if (strcmp(names[i], name) == 0)
			return (enum lttng_condition_type)((int) FIRST + (int) i);
	}
	return LTTNG_CONDITION_TYPE_UNKNOWN;
}

struct lttng_condition *control_new_condition(enum lttng_condition_type type)
{
	struct lttng_condition *const condition = calloc(1, sizeof(*condition));

	if (condition) {
		atomic_init(&condition->owners, 1);
		condition->type = type;
	}
	return condition;
}

struct lttng_condition *control_hold_condition(struct lttng_condition *condition)
{
	atomic_fetch_add(&condition->owners, 1);
	return condition;
}

enum lttng_condition_type lttng_condition_get_type(const struct lttng_condition *condition)
{
	return condition ? condition->type : LTTNG_CONDITION_TYPE_UNKNOWN;
}

void lttng_condition_destroy(struct lttng_condition *condition)
{
	if (!condition || atomic_fetch_sub(&condition->owners, 1) > 1)
		return;
	lttng_event_rule_destroy(condition->rule);
	for (unsigned int i = 0; i < condition->capture_count; i++)
		lttng_event_expr_destroy(condition->captures[i]);
	free(condition->captures);
	free(condition->session);
	free(condition->channel);
	free(condition);
}

bool control_is_complete_condition(const struct lttng_condition *condition)
{
	const struct lttng_event_rule *const rule = condition->rule;

	switch (condition->type) {
	case LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES:
		return rule && rule->name;
	case LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH:
	case LTTNG_CONDITION_TYPE_BUFFER_USAGE_LOW:
		return condition->session && condition->channel &&
			condition->domain != LTTNG_DOMAIN_NONE &&
			condition->threshold != THRESHOLD_UNSET;
	case LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE:
		return condition->session && condition->threshold == THRESHOLD_BYTES;
	default:
		return condition->session != NULL;
	}
}

void control_write_condition(struct request *request, const char *name,
			     const struct lttng_condition *condition)
{
	control_begin_object(request, name);
	control_write_text(request, "type", control_condition_name(condition->type));
	if (condition->rule) {
		control_write_rule(request, "rule", condition->rule);
		control_begin_list(request, "captures");
		for (unsigned int i = 0; i < condition->capture_count; i++)
			control_write_expression(request, NULL, condition->captures[i]);
		control_end_list(request);
	}
	if (condition->session)
		control_write_text(request, "session", condition->session);
	if (condition->channel)
		control_write_text(request, "channel", condition->channel);
	if (condition->domain != LTTNG_DOMAIN_NONE)
		control_write_text(request, "domain", control_domain_name(condition->domain));
	if (condition->threshold == THRESHOLD_BYTES)
		control_write_whole(request, "threshold_bytes", condition->bytes);
	if (condition->threshold == THRESHOLD_RATIO)
		control_write_real(request, "threshold_ratio", condition->ratio);
	control_end_object(request);
}

/* Fill in the members of a condition; return false if one is none, or without memory. */
static bool fill(struct lttng_condition *condition, const struct json *found)
{
	if (!control_replace(&condition->session, control_text_member(found, "session")) ||
	    !control_replace(&condition->channel, control_text_member(found, "channel")))
		return false;
	condition->domain = control_domain_type(control_text_member(found, "domain"));
	if (control_member(found, "threshold_bytes")) {
		condition->threshold = THRESHOLD_BYTES;
		condition->bytes = control_whole_member(found, "threshold_bytes");
	} else if (control_member(found, "threshold_ratio")) {
		condition->threshold = THRESHOLD_RATIO;
		condition->ratio = control_real_member(found, "threshold_ratio");
	}
	if (condition->type != LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES)
		return true;
	condition->rule = control_read_rule(control_member(found, "rule"));
	if (!condition->rule)
		return false;
	for (CONTROL_EACH(one, control_member(found, "captures"))) {
		struct lttng_event_expr *const capture = control_read_expression(one);

		if (!capture)
			return false;
		if (lttng_condition_event_rule_matches_append_capture_descriptor(
			    condition, capture) != LTTNG_CONDITION_STATUS_OK) {
			lttng_event_expr_destroy(capture);
			return false;
		}
	}
	return true;
}

struct lttng_condition *control_read_condition(const struct json *found)
{
	const enum lttng_condition_type type =
		control_condition_type(control_text_member(found, "type"));
	struct lttng_condition *condition;

	if (type == LTTNG_CONDITION_TYPE_UNKNOWN)
		return NULL;
	condition = control_new_condition(type);
	if (!condition || fill(condition, found))
		return condition;
	lttng_condition_destroy(condition);
	return NULL;
}
