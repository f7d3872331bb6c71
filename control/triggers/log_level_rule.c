/*
 * Rules for log levels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "log_level_rule.h"

#include <stdlib.h>
#include <string.h>

#define EXACTLY "exactly"
#define AT_LEAST "at-least-as-severe-as"

struct lttng_log_level_rule {
	enum lttng_log_level_rule_type type;
	int level;
};

static struct lttng_log_level_rule *new_rule(enum lttng_log_level_rule_type type, int level)
{
	struct lttng_log_level_rule *const rule = malloc(sizeof(*rule));

	if (rule) {
		rule->type = type;
		rule->level = level;
	}
	return rule;
}

static enum lttng_log_level_rule_status get_level(const struct lttng_log_level_rule *rule,
						  enum lttng_log_level_rule_type type, int *level)
{
	if (!rule || !level || rule->type != type)
		return LTTNG_LOG_LEVEL_RULE_STATUS_INVALID;
	*level = rule->level;
	return LTTNG_LOG_LEVEL_RULE_STATUS_OK;
}

enum lttng_log_level_rule_type
lttng_log_level_rule_get_type(const struct lttng_log_level_rule *rule)
{
	return rule ? rule->type : LTTNG_LOG_LEVEL_RULE_TYPE_UNKNOWN;
}

struct lttng_log_level_rule *lttng_log_level_rule_exactly_create(int level)
{
	return new_rule(LTTNG_LOG_LEVEL_RULE_TYPE_EXACTLY, level);
}

enum lttng_log_level_rule_status
lttng_log_level_rule_exactly_get_level(const struct lttng_log_level_rule *rule, int *level)
{
	return get_level(rule, LTTNG_LOG_LEVEL_RULE_TYPE_EXACTLY, level);
}

struct lttng_log_level_rule *lttng_log_level_rule_at_least_as_severe_as_create(int level)
{
	return new_rule(LTTNG_LOG_LEVEL_RULE_TYPE_AT_LEAST_AS_SEVERE_AS, level);
}

enum lttng_log_level_rule_status
lttng_log_level_rule_at_least_as_severe_as_get_level(const struct lttng_log_level_rule *rule,
						     int *level)
{
	return get_level(rule, LTTNG_LOG_LEVEL_RULE_TYPE_AT_LEAST_AS_SEVERE_AS, level);
}

void lttng_log_level_rule_destroy(struct lttng_log_level_rule *log_level_rule)
{
	free(log_level_rule);
}

struct lttng_log_level_rule *control_copy_level_rule(const struct lttng_log_level_rule *rule)
{
	return new_rule(rule->type, rule->level);
}

void control_write_level_rule(struct request *request, const char *name,
			      const struct lttng_log_level_rule *rule)
{
	control_begin_object(request, name);
	control_write_text(request, "type",
			   rule->type == LTTNG_LOG_LEVEL_RULE_TYPE_EXACTLY ? EXACTLY : AT_LEAST);
	control_write_integer(request, "level", rule->level);
	control_end_object(request);
}

struct lttng_log_level_rule *control_read_level_rule(const struct json *found)
{
	const char *const type = control_text_member(found, "type");
	const int level = (int) control_integer_member(found, "level", 0);

	if (type && strcmp(type, EXACTLY) == 0)
		return lttng_log_level_rule_exactly_create(level);
	if (type && strcmp(type, AT_LEAST) == 0)
		return lttng_log_level_rule_at_least_as_severe_as_create(level);
	return NULL;
}
