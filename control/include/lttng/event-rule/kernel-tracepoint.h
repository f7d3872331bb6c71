/*
 * Event rules for tracepoints of the kernel.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_RULE_KERNEL_TRACEPOINT_H
#define VESTIGE_LTTNG_EVENT_RULE_KERNEL_TRACEPOINT_H

#include <lttng/event-rule/event-rule.h>
#include <lttng/event.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_rule *lttng_event_rule_kernel_tracepoint_create(void);

enum lttng_event_rule_status
lttng_event_rule_kernel_tracepoint_set_name_pattern(struct lttng_event_rule *rule,
						    const char *pattern);

enum lttng_event_rule_status
lttng_event_rule_kernel_tracepoint_get_name_pattern(const struct lttng_event_rule *rule,
						    const char **pattern);

enum lttng_event_rule_status
lttng_event_rule_kernel_tracepoint_set_filter(struct lttng_event_rule *rule,
					      const char *expression);

enum lttng_event_rule_status
lttng_event_rule_kernel_tracepoint_get_filter(const struct lttng_event_rule *rule,
					      const char **expression);

#ifdef __cplusplus
}
#endif

#endif
