/*
 * Event rules of each type: what programs call.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "../protocol/text.h"
#include "event_rule.h"
#include "kernel_probe.h"
#include "program_probe.h"

#define TYPE(kind) LTTNG_EVENT_RULE_TYPE_##kind

/* Functions for the pattern and the filter of a type. */
#define PATTERN_AND_FILTER(what, kind)                                           \
	enum lttng_event_rule_status lttng_event_rule_##what##_set_name_pattern( \
		struct lttng_event_rule *rule, const char *pattern)              \
	{                                                                        \
		return control_set_rule_name(rule, TYPE(kind), pattern);         \
	}                                                                        \
	enum lttng_event_rule_status lttng_event_rule_##what##_get_name_pattern( \
		const struct lttng_event_rule *rule, const char **pattern)       \
	{                                                                        \
		return control_get_rule_name(rule, TYPE(kind), pattern);         \
	}                                                                        \
	enum lttng_event_rule_status lttng_event_rule_##what##_set_filter(       \
		struct lttng_event_rule *rule, const char *expression)           \
	{                                                                        \
		return control_set_rule_filter(rule, TYPE(kind), expression);    \
	}                                                                        \
	enum lttng_event_rule_status lttng_event_rule_##what##_get_filter(       \
		const struct lttng_event_rule *rule, const char **expression)    \
	{                                                                        \
		return control_get_rule_filter(rule, TYPE(kind), expression);    \
	}

/* All functions of a type that has log levels. */
#define WITH_LEVELS(what, kind)                                                                 \
	PATTERN_AND_FILTER(what, kind)                                                          \
	struct lttng_event_rule *lttng_event_rule_##what##_create(void)                         \
	{                                                                                       \
		return control_new_rule(TYPE(kind));                                            \
	}                                                                                       \
	enum lttng_event_rule_status lttng_event_rule_##what##_set_log_level_rule(              \
		struct lttng_event_rule *rule, const struct lttng_log_level_rule *level)        \
	{                                                                                       \
		return control_set_rule_level(rule, TYPE(kind), level);                         \
	}                                                                                       \
	enum lttng_event_rule_status lttng_event_rule_##what##_get_log_level_rule(              \
		const struct lttng_event_rule *rule, const struct lttng_log_level_rule **level) \
	{                                                                                       \
		return control_get_rule_level(rule, TYPE(kind), level);                         \
	}

/* Functions for the name that events of a probe get. */
#define EVENT_NAME(what, kind)                                                 \
	enum lttng_event_rule_status lttng_event_rule_##what##_set_event_name( \
		struct lttng_event_rule *rule, const char *name)               \
	{                                                                      \
		return control_set_rule_name(rule, TYPE(kind), name);          \
	}                                                                      \
	enum lttng_event_rule_status lttng_event_rule_##what##_get_event_name( \
		const struct lttng_event_rule *rule, const char **name)        \
	{                                                                      \
		return control_get_rule_name(rule, TYPE(kind), name);          \
	}

WITH_LEVELS(user_tracepoint, USER_TRACEPOINT)
WITH_LEVELS(jul_logging, JUL_LOGGING)
WITH_LEVELS(log4j_logging, LOG4J_LOGGING)
WITH_LEVELS(python_logging, PYTHON_LOGGING)
PATTERN_AND_FILTER(kernel_tracepoint, KERNEL_TRACEPOINT)
PATTERN_AND_FILTER(kernel_syscall, KERNEL_SYSCALL)
EVENT_NAME(kernel_kprobe, KERNEL_KPROBE)
EVENT_NAME(kernel_uprobe, KERNEL_UPROBE)

struct lttng_event_rule *lttng_event_rule_kernel_tracepoint_create(void)
{
	return control_new_rule(LTTNG_EVENT_RULE_TYPE_KERNEL_TRACEPOINT);
}

enum lttng_event_rule_status
lttng_event_rule_user_tracepoint_add_name_pattern_exclusion(struct lttng_event_rule *rule,
							    const char *exclusion)
{
	char **larger;

	if (!rule || rule->type != LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT || !exclusion)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	larger = realloc(rule->exclusions, (rule->exclusion_count + 1) * sizeof(*larger));
	if (!larger)
		return LTTNG_EVENT_RULE_STATUS_ERROR;
	rule->exclusions = larger;
	larger[rule->exclusion_count] = NULL;
	if (!control_replace(&larger[rule->exclusion_count], exclusion))
		return LTTNG_EVENT_RULE_STATUS_ERROR;
	rule->exclusion_count++;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

enum lttng_event_rule_status lttng_event_rule_user_tracepoint_get_name_pattern_exclusion_count(
	const struct lttng_event_rule *rule, unsigned int *count)
{
	if (!rule || rule->type != LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT || !count)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	*count = rule->exclusion_count;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

enum lttng_event_rule_status lttng_event_rule_user_tracepoint_get_name_pattern_exclusion_at_index(
	const struct lttng_event_rule *rule, unsigned int index, const char **exclusion)
{
	if (!rule || rule->type != LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT || !exclusion ||
	    index >= rule->exclusion_count)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	*exclusion = rule->exclusions[index];
	return LTTNG_EVENT_RULE_STATUS_OK;
}

struct lttng_event_rule *lttng_event_rule_kernel_syscall_create(
	enum lttng_event_rule_kernel_syscall_emission_site emission_site)
{
	struct lttng_event_rule *rule;

	if (emission_site < LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_ENTRY_EXIT ||
	    emission_site > LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_EXIT)
		return NULL;
	rule = control_new_rule(LTTNG_EVENT_RULE_TYPE_KERNEL_SYSCALL);
	if (rule)
		rule->site = emission_site;
	return rule;
}

enum lttng_event_rule_kernel_syscall_emission_site
lttng_event_rule_kernel_syscall_get_emission_site(const struct lttng_event_rule *rule)
{
	return rule && rule->type == LTTNG_EVENT_RULE_TYPE_KERNEL_SYSCALL
		? rule->site
		: LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_UNKNOWN;
}

struct lttng_event_rule *
lttng_event_rule_kernel_kprobe_create(const struct lttng_kernel_probe_location *location)
{
	struct lttng_event_rule *rule;

	if (!location)
		return NULL;
	rule = control_new_rule(LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE);
	if (!rule)
		return NULL;
	rule->kernel_probe = control_copy_kernel_probe(location);
	if (rule->kernel_probe)
		return rule;
	lttng_event_rule_destroy(rule);
	return NULL;
}

enum lttng_event_rule_status
lttng_event_rule_kernel_kprobe_get_location(const struct lttng_event_rule *rule,
					    const struct lttng_kernel_probe_location **location)
{
	if (!rule || rule->type != LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE || !location)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	*location = rule->kernel_probe;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

struct lttng_event_rule *
lttng_event_rule_kernel_uprobe_create(const struct lttng_userspace_probe_location *location)
{
	struct lttng_event_rule *rule;

	if (!location)
		return NULL;
	rule = control_new_rule(LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE);
	if (!rule)
		return NULL;
	rule->program_probe = control_copy_program_probe(location);
	if (rule->program_probe)
		return rule;
	lttng_event_rule_destroy(rule);
	return NULL;
}

enum lttng_event_rule_status lttng_event_rule_kernel_uprobe_get_location(
	const struct lttng_event_rule *rule,
	const struct lttng_userspace_probe_location **location)
{
	if (!rule || rule->type != LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE || !location)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	*location = rule->program_probe;
	return LTTNG_EVENT_RULE_STATUS_OK;
}
