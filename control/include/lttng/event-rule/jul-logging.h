/*
 * Event rules for loggers of java.util.logging. A new one matches all: its pattern is "*", it has no filter and no
 * log level. What a rule is given is copied; what getters give belongs to the rule, and is there
 * until it is set again or the rule is destroyed. A getter of what is not set returns
 * LTTNG_EVENT_RULE_STATUS_UNSET.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_RULE_JUL_LOGGING_H
#define VESTIGE_LTTNG_EVENT_RULE_JUL_LOGGING_H

#include <lttng/event-rule/event-rule.h>
#include <lttng/event.h>
#include <lttng/log-level-rule.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_rule *lttng_event_rule_jul_logging_create(void);

enum lttng_event_rule_status
lttng_event_rule_jul_logging_set_name_pattern(struct lttng_event_rule *rule, const char *pattern);

enum lttng_event_rule_status
lttng_event_rule_jul_logging_get_name_pattern(const struct lttng_event_rule *rule,
					      const char **pattern);

enum lttng_event_rule_status
lttng_event_rule_jul_logging_set_filter(struct lttng_event_rule *rule, const char *expression);

enum lttng_event_rule_status
lttng_event_rule_jul_logging_get_filter(const struct lttng_event_rule *rule,
					const char **expression);

enum lttng_event_rule_status lttng_event_rule_jul_logging_set_log_level_rule(
	struct lttng_event_rule *rule, const struct lttng_log_level_rule *log_level_rule);

enum lttng_event_rule_status lttng_event_rule_jul_logging_get_log_level_rule(
	const struct lttng_event_rule *rule, const struct lttng_log_level_rule **log_level_rule);

#ifdef __cplusplus
}
#endif

#endif
