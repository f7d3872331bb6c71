/*
 * Event rules: which events match. There are several owners of a rule: destroying one gives up the
 * own part.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_RULE_EVENT_RULE_H
#define VESTIGE_LTTNG_EVENT_RULE_EVENT_RULE_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_rule;

enum lttng_event_rule_type {
	LTTNG_EVENT_RULE_TYPE_UNKNOWN = -1,
	LTTNG_EVENT_RULE_TYPE_KERNEL_SYSCALL = 0,
	LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE = 1,
	LTTNG_EVENT_RULE_TYPE_KERNEL_TRACEPOINT = 2,
	LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE = 3,
	LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT = 4,
	LTTNG_EVENT_RULE_TYPE_JUL_LOGGING = 5,
	LTTNG_EVENT_RULE_TYPE_LOG4J_LOGGING = 6,
	LTTNG_EVENT_RULE_TYPE_PYTHON_LOGGING = 7,
};

enum lttng_event_rule_status {
	LTTNG_EVENT_RULE_STATUS_OK = 0,
	LTTNG_EVENT_RULE_STATUS_ERROR = -1,
	LTTNG_EVENT_RULE_STATUS_UNKNOWN = -2,
	LTTNG_EVENT_RULE_STATUS_INVALID = -3,
	LTTNG_EVENT_RULE_STATUS_UNSET = -4,
	LTTNG_EVENT_RULE_STATUS_UNSUPPORTED = -5,
};

enum lttng_event_rule_type lttng_event_rule_get_type(const struct lttng_event_rule *event_rule);

void lttng_event_rule_destroy(struct lttng_event_rule *rule);

#ifdef __cplusplus
}
#endif

#endif
