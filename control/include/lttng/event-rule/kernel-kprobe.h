/*
 * Event rules for probes in the kernel. Locations and names are copied.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_RULE_KERNEL_KPROBE_H
#define VESTIGE_LTTNG_EVENT_RULE_KERNEL_KPROBE_H

#include <lttng/event-rule/event-rule.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_kernel_probe_location;

struct lttng_event_rule *
lttng_event_rule_kernel_kprobe_create(const struct lttng_kernel_probe_location *location);

enum lttng_event_rule_status
lttng_event_rule_kernel_kprobe_get_location(const struct lttng_event_rule *rule,
					    const struct lttng_kernel_probe_location **location);

enum lttng_event_rule_status
lttng_event_rule_kernel_kprobe_set_event_name(struct lttng_event_rule *rule, const char *name);

enum lttng_event_rule_status
lttng_event_rule_kernel_kprobe_get_event_name(const struct lttng_event_rule *rule,
					      const char **name);

#ifdef __cplusplus
}
#endif

#endif
