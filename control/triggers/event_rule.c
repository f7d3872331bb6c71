/*
 * Event rules: see event_rule.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "event_rule.h"

#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"
#include "kernel_probe.h"
#include "log_level_rule.h"
#include "program_probe.h"

struct lttng_event_rule *control_new_rule(enum lttng_event_rule_type type)
{
	struct lttng_event_rule *const rule = calloc(1, sizeof(*rule));
	const bool has_pattern = type != LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE &&
		type != LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE;

	if (!rule)
		return NULL;
	atomic_init(&rule->owners, 1);
	rule->type = type;
	if (!has_pattern || control_replace(&rule->name, "*"))
		return rule;
	free(rule);
	return NULL;
}

struct lttng_event_rule *control_hold_rule(struct lttng_event_rule *rule)
{
	atomic_fetch_add(&rule->owners, 1);
	return rule;
}

enum lttng_event_rule_type lttng_event_rule_get_type(const struct lttng_event_rule *event_rule)
{
	return event_rule ? event_rule->type : LTTNG_EVENT_RULE_TYPE_UNKNOWN;
}

void lttng_event_rule_destroy(struct lttng_event_rule *rule)
{
	if (!rule || atomic_fetch_sub(&rule->owners, 1) > 1)
		return;
	for (unsigned int i = 0; i < rule->exclusion_count; i++)
		free(rule->exclusions[i]);
	free(rule->exclusions);
	free(rule->name);
	free(rule->filter);
	lttng_log_level_rule_destroy(rule->level);
	lttng_kernel_probe_location_destroy(rule->kernel_probe);
	lttng_userspace_probe_location_destroy(rule->program_probe);
	free(rule);
}

static enum lttng_event_rule_status set_text(struct lttng_event_rule *rule,
					     enum lttng_event_rule_type type, char **member,
					     const char *text)
{
	if (!rule || rule->type != type || !text || !*text)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	return control_replace(member, text) ? LTTNG_EVENT_RULE_STATUS_OK
					     : LTTNG_EVENT_RULE_STATUS_ERROR;
}

static enum lttng_event_rule_status get_text(const char *member, const char **text)
{
	if (!member)
		return LTTNG_EVENT_RULE_STATUS_UNSET;
	*text = member;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

enum lttng_event_rule_status control_set_rule_name(struct lttng_event_rule *rule,
						   enum lttng_event_rule_type type,
						   const char *name)
{
	return set_text(rule, type, rule ? &rule->name : NULL, name);
}

enum lttng_event_rule_status control_get_rule_name(const struct lttng_event_rule *rule,
						   enum lttng_event_rule_type type,
						   const char **name)
{
	if (!rule || rule->type != type || !name)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	return get_text(rule->name, name);
}

enum lttng_event_rule_status control_set_rule_filter(struct lttng_event_rule *rule,
						     enum lttng_event_rule_type type,
						     const char *expression)
{
	return set_text(rule, type, rule ? &rule->filter : NULL, expression);
}

enum lttng_event_rule_status control_get_rule_filter(const struct lttng_event_rule *rule,
						     enum lttng_event_rule_type type,
						     const char **expression)
{
	if (!rule || rule->type != type || !expression)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	return get_text(rule->filter, expression);
}

enum lttng_event_rule_status control_set_rule_level(struct lttng_event_rule *rule,
						    enum lttng_event_rule_type type,
						    const struct lttng_log_level_rule *level)
{
	struct lttng_log_level_rule *copy;

	if (!rule || rule->type != type || !level)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	copy = control_copy_level_rule(level);
	if (!copy)
		return LTTNG_EVENT_RULE_STATUS_ERROR;
	lttng_log_level_rule_destroy(rule->level);
	rule->level = copy;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

enum lttng_event_rule_status control_get_rule_level(const struct lttng_event_rule *rule,
						    enum lttng_event_rule_type type,
						    const struct lttng_log_level_rule **level)
{
	if (!rule || rule->type != type || !level)
		return LTTNG_EVENT_RULE_STATUS_INVALID;
	if (!rule->level)
		return LTTNG_EVENT_RULE_STATUS_UNSET;
	*level = rule->level;
	return LTTNG_EVENT_RULE_STATUS_OK;
}

static const char *const types[] = {
	[LTTNG_EVENT_RULE_TYPE_KERNEL_SYSCALL] = "kernel-syscall",
	[LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE] = "kernel-kprobe",
	[LTTNG_EVENT_RULE_TYPE_KERNEL_TRACEPOINT] = "kernel-tracepoint",
	[LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE] = "kernel-uprobe",
	[LTTNG_EVENT_RULE_TYPE_USER_TRACEPOINT] = "user-tracepoint",
	[LTTNG_EVENT_RULE_TYPE_JUL_LOGGING] = "jul-logging",
	[LTTNG_EVENT_RULE_TYPE_LOG4J_LOGGING] = "log4j-logging",
	[LTTNG_EVENT_RULE_TYPE_PYTHON_LOGGING] = "python-logging",
};

static const char *const sites[] = {
	[LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_ENTRY_EXIT] = "entry+exit",
	[LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_ENTRY] = "entry",
	[LTTNG_EVENT_RULE_KERNEL_SYSCALL_EMISSION_SITE_EXIT] = "exit",
};

/* Return the number of a name, or how many there are. */
static unsigned int find(const char *const *names, unsigned int count, const char *name)
{
	unsigned int i = 0;

	while (i < count && (!name || strcmp(names[i], name) != 0))
		i++;
	return i;
}

#define COUNT(names) ((unsigned int) (sizeof(names) / sizeof(*(names))))

void control_write_rule(struct request *request, const char *name,
			const struct lttng_event_rule *rule)
{
	const bool is_probe = rule->kernel_probe || rule->program_probe;

	control_begin_object(request, name);
	control_write_text(request, "type", types[rule->type]);
	if (rule->name)
		control_write_text(request, is_probe ? "event_name" : "name", rule->name);
	if (rule->filter)
		control_write_text(request, "filter", rule->filter);
	if (rule->level)
		control_write_level_rule(request, "log_level", rule->level);
	if (rule->exclusion_count) {
		control_begin_list(request, "exclusions");
		for (unsigned int i = 0; i < rule->exclusion_count; i++)
			control_write_text(request, NULL, rule->exclusions[i]);
		control_end_list(request);
	}
	if (rule->type == LTTNG_EVENT_RULE_TYPE_KERNEL_SYSCALL)
		control_write_text(request, "emission_site", sites[rule->site]);
	if (rule->kernel_probe)
		control_write_kernel_probe(request, "location", rule->kernel_probe);
	if (rule->program_probe)
		control_write_program_probe(request, "location", rule->program_probe);
	control_end_object(request);
}

/* Fill in the members of a rule; return false if one is none, or without memory. */
static bool fill(struct lttng_event_rule *rule, const struct json *found)
{
	const struct json *const location = control_member(found, "location");
	const struct json *const level = control_member(found, "log_level");
	const char *const site = control_text_member(found, "emission_site");
	const char *name = control_text_member(found, "name");

	if (!name)
		name = control_text_member(found, "event_name");
	if ((name && !control_replace(&rule->name, name)) ||
	    !control_replace(&rule->filter, control_text_member(found, "filter")))
		return false;
	if (level && level->type == JSON_OBJECT) {
		rule->level = control_read_level_rule(level);
		if (!rule->level)
			return false;
	}
	for (CONTROL_EACH(one, control_member(found, "exclusions"))) {
		if (one->type != JSON_TEXT ||
		    lttng_event_rule_user_tracepoint_add_name_pattern_exclusion(
			    rule, one->text) != LTTNG_EVENT_RULE_STATUS_OK)
			return false;
	}
	if (site) {
		const unsigned int number = find(sites, COUNT(sites), site);

		if (number == COUNT(sites))
			return false;
		rule->site = (enum lttng_event_rule_kernel_syscall_emission_site) number;
	}
	if (rule->type == LTTNG_EVENT_RULE_TYPE_KERNEL_KPROBE)
		return (rule->kernel_probe = control_read_kernel_probe(location)) != NULL;
	if (rule->type == LTTNG_EVENT_RULE_TYPE_KERNEL_UPROBE)
		return (rule->program_probe = control_read_program_probe(location)) != NULL;
	return true;
}

struct lttng_event_rule *control_read_rule(const struct json *found)
{
	const unsigned int type = find(types, COUNT(types), control_text_member(found, "type"));
	struct lttng_event_rule *rule;

	if (type == COUNT(types))
		return NULL;
	rule = control_new_rule((enum lttng_event_rule_type) type);
	if (!rule || fill(rule, found))
		return rule;
	lttng_event_rule_destroy(rule);
	return NULL;
}
