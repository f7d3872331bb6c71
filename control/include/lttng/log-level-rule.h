/*
 * Which log levels match. Numbers are those of event.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_LOG_LEVEL_RULE_H
#define VESTIGE_LTTNG_LOG_LEVEL_RULE_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_log_level_rule;

enum lttng_log_level_rule_type {
	LTTNG_LOG_LEVEL_RULE_TYPE_UNKNOWN = -1,
	LTTNG_LOG_LEVEL_RULE_TYPE_EXACTLY = 0,
	LTTNG_LOG_LEVEL_RULE_TYPE_AT_LEAST_AS_SEVERE_AS = 1,
};

enum lttng_log_level_rule_status {
	LTTNG_LOG_LEVEL_RULE_STATUS_OK = 0,
	LTTNG_LOG_LEVEL_RULE_STATUS_ERROR = -1,
	LTTNG_LOG_LEVEL_RULE_STATUS_INVALID = -3,
};

enum lttng_log_level_rule_type
lttng_log_level_rule_get_type(const struct lttng_log_level_rule *rule);

struct lttng_log_level_rule *lttng_log_level_rule_exactly_create(int level);

enum lttng_log_level_rule_status
lttng_log_level_rule_exactly_get_level(const struct lttng_log_level_rule *rule, int *level);

struct lttng_log_level_rule *lttng_log_level_rule_at_least_as_severe_as_create(int level);

enum lttng_log_level_rule_status
lttng_log_level_rule_at_least_as_severe_as_get_level(const struct lttng_log_level_rule *rule,
						     int *level);

void lttng_log_level_rule_destroy(struct lttng_log_level_rule *log_level_rule);

#ifdef __cplusplus
}
#endif

#endif
