/*
 * Conditions of each type: what programs call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "../protocol/text.h"
#include "condition.h"
#include "event_rule.h"

/* Tell whether a condition is there and of one of two types. */
static bool is_of(const struct lttng_condition *condition, enum lttng_condition_type one,
		  enum lttng_condition_type other)
{
	return condition && (condition->type == one || condition->type == other);
}

static bool is_of_buffers(const struct lttng_condition *condition)
{
	return is_of(condition, LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH,
		     LTTNG_CONDITION_TYPE_BUFFER_USAGE_LOW);
}

static bool is_of_size(const struct lttng_condition *condition)
{
	return is_of(condition, LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE,
		     LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE);
}

static bool is_of_rotation(const struct lttng_condition *condition)
{
	return is_of(condition, LTTNG_CONDITION_TYPE_SESSION_ROTATION_ONGOING,
		     LTTNG_CONDITION_TYPE_SESSION_ROTATION_COMPLETED);
}

static bool is_of_rule(const struct lttng_condition *condition)
{
	return is_of(condition, LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES,
		     LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES);
}

static enum lttng_condition_status set_text(char **member, const char *text)
{
	if (!text || !*text)
		return LTTNG_CONDITION_STATUS_INVALID;
	return control_replace(member, text) ? LTTNG_CONDITION_STATUS_OK
					     : LTTNG_CONDITION_STATUS_ERROR;
}

static enum lttng_condition_status get_text(const char *member, const char **text)
{
	if (!text)
		return LTTNG_CONDITION_STATUS_INVALID;
	if (!member)
		return LTTNG_CONDITION_STATUS_UNSET;
	*text = member;
	return LTTNG_CONDITION_STATUS_OK;
}

/* Functions that set and give a text of conditions of a type. */
#define TEXT(what, member, is_right)                                              \
	enum lttng_condition_status lttng_condition_##what##_set_##member##_name( \
		struct lttng_condition *condition, const char *name)              \
	{                                                                         \
		return is_right(condition) ? set_text(&condition->member, name)   \
					   : LTTNG_CONDITION_STATUS_INVALID;      \
	}                                                                         \
	enum lttng_condition_status lttng_condition_##what##_get_##member##_name( \
		const struct lttng_condition *condition, const char **name)       \
	{                                                                         \
		return is_right(condition) ? get_text(condition->member, name)    \
					   : LTTNG_CONDITION_STATUS_INVALID;      \
	}

/* Functions that set and give a threshold in bytes. */
#define BYTES(what, is_right)                                               \
	enum lttng_condition_status lttng_condition_##what##_set_threshold( \
		struct lttng_condition *condition, uint64_t bytes)          \
	{                                                                   \
		if (!is_right(condition))                                   \
			return LTTNG_CONDITION_STATUS_INVALID;              \
		condition->threshold = THRESHOLD_BYTES;                     \
		condition->bytes = bytes;                                   \
		return LTTNG_CONDITION_STATUS_OK;                           \
	}                                                                   \
	enum lttng_condition_status lttng_condition_##what##_get_threshold( \
		const struct lttng_condition *condition, uint64_t *bytes)   \
	{                                                                   \
		if (!is_right(condition) || !bytes)                         \
			return LTTNG_CONDITION_STATUS_INVALID;              \
		if (condition->threshold != THRESHOLD_BYTES)                \
			return LTTNG_CONDITION_STATUS_UNSET;                \
		*bytes = condition->bytes;                                  \
		return LTTNG_CONDITION_STATUS_OK;                           \
	}

TEXT(buffer_usage, session, is_of_buffers)
TEXT(buffer_usage, channel, is_of_buffers)
TEXT(session_consumed_size, session, is_of_size)
TEXT(session_rotation, session, is_of_rotation)
BYTES(buffer_usage, is_of_buffers)
BYTES(session_consumed_size, is_of_size)

struct lttng_condition *lttng_condition_buffer_usage_low_create(void)
{
	return control_new_condition(LTTNG_CONDITION_TYPE_BUFFER_USAGE_LOW);
}

struct lttng_condition *lttng_condition_buffer_usage_high_create(void)
{
	return control_new_condition(LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH);
}

struct lttng_condition *lttng_condition_session_consumed_size_create(void)
{
	return control_new_condition(LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE);
}

struct lttng_condition *lttng_condition_session_rotation_ongoing_create(void)
{
	return control_new_condition(LTTNG_CONDITION_TYPE_SESSION_ROTATION_ONGOING);
}

struct lttng_condition *lttng_condition_session_rotation_completed_create(void)
{
	return control_new_condition(LTTNG_CONDITION_TYPE_SESSION_ROTATION_COMPLETED);
}

enum lttng_condition_status
lttng_condition_buffer_usage_set_threshold_ratio(struct lttng_condition *condition,
						 double threshold_ratio)
{
	/* Neither is what is no number. */
	if (!is_of_buffers(condition) || !(threshold_ratio >= 0 && threshold_ratio <= 1))
		return LTTNG_CONDITION_STATUS_INVALID;
	condition->threshold = THRESHOLD_RATIO;
	condition->ratio = threshold_ratio;
	return LTTNG_CONDITION_STATUS_OK;
}

enum lttng_condition_status
lttng_condition_buffer_usage_get_threshold_ratio(const struct lttng_condition *condition,
						 double *threshold_ratio)
{
	if (!is_of_buffers(condition) || !threshold_ratio)
		return LTTNG_CONDITION_STATUS_INVALID;
	if (condition->threshold != THRESHOLD_RATIO)
		return LTTNG_CONDITION_STATUS_UNSET;
	*threshold_ratio = condition->ratio;
	return LTTNG_CONDITION_STATUS_OK;
}

enum lttng_condition_status
lttng_condition_buffer_usage_set_domain_type(struct lttng_condition *condition,
					     enum lttng_domain_type type)
{
	if (!is_of_buffers(condition) || type <= LTTNG_DOMAIN_NONE || type > LTTNG_DOMAIN_PYTHON)
		return LTTNG_CONDITION_STATUS_INVALID;
	condition->domain = type;
	return LTTNG_CONDITION_STATUS_OK;
}

enum lttng_condition_status
lttng_condition_buffer_usage_get_domain_type(const struct lttng_condition *condition,
					     enum lttng_domain_type *type)
{
	if (!is_of_buffers(condition) || !type)
		return LTTNG_CONDITION_STATUS_INVALID;
	if (condition->domain == LTTNG_DOMAIN_NONE)
		return LTTNG_CONDITION_STATUS_UNSET;
	*type = condition->domain;
	return LTTNG_CONDITION_STATUS_OK;
}

struct lttng_condition *lttng_condition_event_rule_matches_create(struct lttng_event_rule *rule)
{
	struct lttng_condition *condition;

	if (!rule)
		return NULL;
	condition = control_new_condition(LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES);
	if (condition)
		condition->rule = control_hold_rule(rule);
	return condition;
}

enum lttng_condition_status
lttng_condition_event_rule_matches_get_rule(const struct lttng_condition *condition,
					    const struct lttng_event_rule **rule)
{
	if (!is_of_rule(condition) || !rule)
		return LTTNG_CONDITION_STATUS_INVALID;
	*rule = condition->rule;
	return *rule ? LTTNG_CONDITION_STATUS_OK : LTTNG_CONDITION_STATUS_UNSET;
}

/* Tell whether events that a rule matches have fields. */
static bool has_fields(const struct lttng_event_rule *rule)
{
	return rule && rule->type != LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE &&
		rule->type != LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE;
}

enum lttng_condition_status
lttng_condition_event_rule_matches_append_capture_descriptor(struct lttng_condition *condition,
							     struct lttng_event_expr *expr)
{
	struct lttng_event_expr **larger;

	if (!is_of_rule(condition) || !expr)
		return LTTNG_CONDITION_STATUS_INVALID;
	if (!has_fields(condition->rule))
		return LTTNG_CONDITION_STATUS_UNSUPPORTED;
	larger = realloc(condition->captures, (condition->capture_count + 1) * sizeof(*larger));
	if (!larger)
		return LTTNG_CONDITION_STATUS_ERROR;
	condition->captures = larger;
	larger[condition->capture_count++] = expr;
	return LTTNG_CONDITION_STATUS_OK;
}

enum lttng_condition_status lttng_condition_event_rule_matches_get_capture_descriptor_count(
	const struct lttng_condition *condition, unsigned int *count)
{
	if (!is_of_rule(condition) || !count)
		return LTTNG_CONDITION_STATUS_INVALID;
	*count = condition->capture_count;
	return LTTNG_CONDITION_STATUS_OK;
}

const struct lttng_event_expr *lttng_condition_event_rule_matches_get_capture_descriptor_at_index(
	const struct lttng_condition *condition, unsigned int index)
{
	if (!is_of_rule(condition) || index >= condition->capture_count)
		return NULL;
	return condition->captures[index];
}
