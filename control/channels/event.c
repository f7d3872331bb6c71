/*
 * Events as they are listed or made, and what they have besides their structure.
 *
 * SPDX-License-Identifier: MIT
 */
#include "event.h"

#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "domain_names.h"

struct lttng_event *lttng_event_create(void)
{
	struct lttng_event *const event =
		calloc(1, sizeof(*event) + sizeof(struct event_extension));

	if (event)
		event->extended.ptr = event + 1;
	return event;
}

void lttng_event_destroy(struct lttng_event *event)
{
	if (!event)
		return;
	if (event->extended.ptr)
		lttng_userspace_probe_location_destroy(
			((struct event_extension *) event->extended.ptr)->location);
	free(event);
}

int lttng_event_get_filter_expression(struct lttng_event *event, const char **filter_string)
{
	const struct event_extension *extension;

	if (!event || !filter_string)
		return -LTTNG_ERR_INVALID;
	extension = event->extended.ptr;
	*filter_string = extension ? extension->filter : NULL;
	return 0;
}

int lttng_event_get_exclusion_name_count(struct lttng_event *event)
{
	const struct event_extension *extension;

	if (!event)
		return -LTTNG_ERR_INVALID;
	extension = event->extended.ptr;
	return extension ? (int) extension->exclusion_count : 0;
}

int lttng_event_get_exclusion_name(struct lttng_event *event, size_t index,
				   const char **exclusion_name)
{
	const struct event_extension *extension;

	if (!event || !exclusion_name)
		return -LTTNG_ERR_INVALID;
	extension = event->extended.ptr;
	if (!extension || index >= extension->exclusion_count)
		return -LTTNG_ERR_INVALID;
	*exclusion_name = extension->exclusions[index];
	return 0;
}

const struct lttng_userspace_probe_location *
lttng_event_get_userspace_probe_location(const struct lttng_event *event)
{
	const struct event_extension *const extension = event ? event->extended.ptr : NULL;

	return extension ? extension->location : NULL;
}

int lttng_event_set_userspace_probe_location(
	struct lttng_event *event, struct lttng_userspace_probe_location *probe_location)
{
	struct event_extension *const extension = event ? event->extended.ptr : NULL;

	if (!extension || !probe_location)
		return -LTTNG_ERR_INVALID;
	lttng_userspace_probe_location_destroy(extension->location);
	extension->location = probe_location;
	return 0;
}

/* Return how much memory the texts of rules take, with the pointers to them. */
static size_t texts_size(const struct json *rules)
{
	size_t size = 0;

	for (CONTROL_EACH(rule, rules)) {
		const char *const filter = control_text_member(rule, "filter");

		size += filter ? strlen(filter) + 1 : 0;
		for (CONTROL_EACH(one, control_member(rule, "exclusions"))) {
			if (one->type == JSON_TEXT)
				size += sizeof(one->text) + strlen(one->text) + 1;
		}
	}
	return size;
}

/* Copy a text to where the others are. */
static const char *keep(char **texts, const char *text)
{
	char *const kept = *texts;
	const size_t size = strlen(text) + 1;

	memcpy(kept, text, size);
	*texts += size;
	return kept;
}

static enum lttng_loglevel_type level_type(const char *name)
{
	if (name && strcmp(name, "RANGE") == 0)
		return LTTNG_EVENT_LOGLEVEL_RANGE;
	return name && strcmp(name, "SINGLE") == 0 ? LTTNG_EVENT_LOGLEVEL_SINGLE
						   : LTTNG_EVENT_LOGLEVEL_ALL;
}

static const struct {
	enum lttng_event_type type;
	const char *name;
} types[] = {
	{LTTNG_EVENT_TRACEPOINT, "TRACEPOINT"}, {LTTNG_EVENT_ALL, "ALL"},
	{LTTNG_EVENT_SYSCALL, "SYSCALL"},       {LTTNG_EVENT_PROBE, "PROBE"},
	{LTTNG_EVENT_FUNCTION, "FUNCTION"},     {LTTNG_EVENT_USERSPACE_PROBE, "USERSPACE_PROBE"},
};

#define TYPES (sizeof(types) / sizeof(*types))

const char *control_event_type_name(enum lttng_event_type type)
{
	for (size_t i = 0; i < TYPES; i++) {
		if (types[i].type == type)
			return types[i].name;
	}
	return NULL;
}

enum lttng_event_type control_event_type(const char *name)
{
	for (size_t i = 0; i < TYPES; i++) {
		if (control_same_text(types[i].name, name))
			return types[i].type;
	}
	return LTTNG_EVENT_TRACEPOINT;
}

/* Fill in where a probe in the kernel is; places in programs are not listed. */
static void fill_place(struct lttng_event_probe_attr *probe, const struct json *place)
{
	probe->addr = control_whole_member(place, "address");
	probe->offset = control_whole_member(place, "offset");
	control_copy(probe->symbol_name, sizeof(probe->symbol_name),
		     control_text_member(place, "name"));
}

static void fill(struct lttng_event *event, struct event_extension *extension,
		 const char ***exclusions, char **texts, const struct json *rule)
{
	const char *const filter = control_text_member(rule, "filter");

	event->type = control_event_type(control_text_member(rule, "type"));
	if (event->type == LTTNG_EVENT_PROBE || event->type == LTTNG_EVENT_FUNCTION)
		fill_place(&event->attr.probe, control_member(rule, "location"));
	control_copy(event->name, sizeof(event->name), control_text_member(rule, "name"));
	event->loglevel_type = level_type(control_text_member(rule, "level_type"));
	event->loglevel = (int) control_integer_member(rule, "level", -1);
	event->enabled = control_flag_member(rule, "enabled");
	event->filter = filter != NULL;
	extension->exclusions = *exclusions;
	if (filter)
		extension->filter = keep(texts, filter);
	for (CONTROL_EACH(one, control_member(rule, "exclusions"))) {
		if (one->type != JSON_TEXT)
			continue;
		*(*exclusions)++ = keep(texts, one->text);
		extension->exclusion_count++;
	}
	event->exclusion = extension->exclusion_count > 0;
	event->extended.ptr = extension;
}

static uint32_t exclusion_count(const struct json *rules)
{
	uint32_t count = 0;

	for (CONTROL_EACH(rule, rules)) {
		for (CONTROL_EACH(one, control_member(rule, "exclusions")))
			count += one->type == JSON_TEXT;
	}
	return count;
}

/* Return rules in one piece, since who asked frees one; NULL without memory. */
static struct lttng_event *copy_rules(const struct json *rules)
{
	const size_t count = control_count(rules);
	struct event_extension *extensions;
	struct lttng_event *found, *next;
	const char **exclusions;
	char *texts;

	found = calloc(1, count * (sizeof(*found) + sizeof(*extensions)) + texts_size(rules) + 1);
	if (!found)
		return NULL;
	extensions = (struct event_extension *) (found + count);
	exclusions = (const char **) (extensions + count);
	texts = (char *) (exclusions + exclusion_count(rules));
	next = found;
	for (CONTROL_EACH(one, rules))
		fill(next++, extensions++, &exclusions, &texts, one);
	return found;
}

int lttng_list_events(struct lttng_handle *handle, const char *channel_name,
		      struct lttng_event **events)
{
	const struct json *rules, *channels, *channel;
	struct answer answer;
	bool is_kernel;
	int code;

	if (!handle || !channel_name || !events)
		return -LTTNG_ERR_INVALID;
	is_kernel = handle->domain.type == LTTNG_DOMAIN_KERNEL;
	code = control_ask_of_session("describe", handle->session_name, &answer);
	if (code)
		return code;
	channels = control_member(answer.value, is_kernel ? "kernel_channels" : "channels");
	channel = control_member(channels, channel_name);
	rules = control_member(channel, "rules");
	if (handle->domain.type != LTTNG_DOMAIN_UST && !is_kernel) {
		const char *const domain = control_domain_name(handle->domain.type);

		rules = domain ? control_member(control_member(answer.value, "agents"), domain)
			       : NULL;
	}
	if (handle->domain.type == LTTNG_DOMAIN_UST && !channel) {
		code = -LTTNG_ERR_UST_CHAN_NOT_FOUND;
	} else if (is_kernel && !channel) {
		code = -LTTNG_ERR_KERN_CHAN_NOT_FOUND;
	} else {
		*events = copy_rules(rules);
		code = *events ? (int) control_count(rules) : -LTTNG_ERR_NOMEM;
	}
	control_free_answer(&answer);
	return code;
}
