/*
 * Event rules: what those of all types have in common.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_EVENT_RULE_H
#define VESTIGE_CONTROL_EVENT_RULE_H

#include <stdatomic.h>

#include <lttng/lttng.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

struct lttng_event_rule {
	atomic_uint owners;
	enum lttng_event_rule_type type;
	/* A pattern of names, or the name that events of a probe get. */
	char *name;
	char *filter;
	struct lttng_log_level_rule *level;
	char **exclusions;
	unsigned int exclusion_count;
	enum lttng_event_rule_kernel_syscall_emission_site site;
	struct lttng_kernel_probe_location *kernel_probe;
	struct lttng_userspace_probe_location *program_probe;
};

/* Return a rule that matches all of its type, NULL without memory. */
struct lttng_event_rule *control_new_rule(enum lttng_event_rule_type type);

/* Take a part in a rule, which lttng_event_rule_destroy() gives up. */
struct lttng_event_rule *control_hold_rule(struct lttng_event_rule *rule);

/* Set or give the name of a rule of a type. */
enum lttng_event_rule_status control_set_rule_name(struct lttng_event_rule *rule,
						   enum lttng_event_rule_type type,
						   const char *name);
enum lttng_event_rule_status control_get_rule_name(const struct lttng_event_rule *rule,
						   enum lttng_event_rule_type type,
						   const char **name);

/* Set or give the filter of a rule of a type. */
enum lttng_event_rule_status control_set_rule_filter(struct lttng_event_rule *rule,
						     enum lttng_event_rule_type type,
						     const char *expression);
enum lttng_event_rule_status control_get_rule_filter(const struct lttng_event_rule *rule,
						     enum lttng_event_rule_type type,
						     const char **expression);

/* Set or give the log levels of a rule of a type. */
enum lttng_event_rule_status control_set_rule_level(struct lttng_event_rule *rule,
						    enum lttng_event_rule_type type,
						    const struct lttng_log_level_rule *level);
enum lttng_event_rule_status control_get_rule_level(const struct lttng_event_rule *rule,
						    enum lttng_event_rule_type type,
						    const struct lttng_log_level_rule **level);

/* Write a rule. */
void control_write_rule(struct request *request, const char *name,
			const struct lttng_event_rule *rule);

/* Return a rule, NULL if it is none or there is no memory. */
struct lttng_event_rule *control_read_rule(const struct json *found);

#endif
