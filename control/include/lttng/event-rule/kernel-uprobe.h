/*
 * Event rules for probes of the kernel in programs. Locations and names are copied.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_RULE_KERNEL_UPROBE_H
#define VESTIGE_LTTNG_EVENT_RULE_KERNEL_UPROBE_H

#include <lttng/event-rule/event-rule.h>
#include <lttng/userspace-probe.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_rule *
lttng_event_rule_kernel_uprobe_create(const struct lttng_userspace_probe_location *location);

enum lttng_event_rule_status lttng_event_rule_kernel_uprobe_get_location(
	const struct lttng_event_rule *rule,
	const struct lttng_userspace_probe_location **location);

enum lttng_event_rule_status
lttng_event_rule_kernel_uprobe_set_event_name(struct lttng_event_rule *rule, const char *name);

enum lttng_event_rule_status
lttng_event_rule_kernel_uprobe_get_event_name(const struct lttng_event_rule *rule,
					      const char **name);

#ifdef __cplusplus
}
#endif

#endif
