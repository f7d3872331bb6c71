/*
 * Recording event rules: enabling and disabling them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "domain_names.h"

static int begin(struct request *request, const char *verb, const struct lttng_handle *handle,
		 const char *channel)
{
	const char *domain;

	if (!handle)
		return -LTTNG_ERR_INVALID;
	domain = control_domain_name(handle->domain.type);
	if (!domain)
		return -LTTNG_ERR_UNKNOWN_DOMAIN;
	control_begin_request(request, verb);
	control_write_text(request, "session", handle->session_name);
	control_write_text(request, "domain", domain);
	control_write_text(request, "channel", channel);
	return 0;
}

/* Tell whether there is such a type of events in user space. */
static bool is_of_user_space(enum lttng_event_type type)
{
	return type == LTTNG_EVENT_TRACEPOINT || type == LTTNG_EVENT_ALL;
}

static void write_levels(struct request *request, const struct lttng_event *event)
{
	static const char *const types[] = {
		[LTTNG_EVENT_LOGLEVEL_ALL] = "ALL",
		[LTTNG_EVENT_LOGLEVEL_RANGE] = "RANGE",
		[LTTNG_EVENT_LOGLEVEL_SINGLE] = "SINGLE",
	};
	const bool is_known =
		(unsigned int) event->loglevel_type < sizeof(types) / sizeof(*types);

	control_write_text(request, "level_type", is_known ? types[event->loglevel_type] : "?");
	/* Without a type the number means nothing, and tells no rules from each other. */
	control_write_integer(request, "level",
			      event->loglevel_type == LTTNG_EVENT_LOGLEVEL_ALL ? -1
									       : event->loglevel);
}

int lttng_enable_event_with_exclusions(struct lttng_handle *handle, struct lttng_event *event,
				       const char *channel_name, const char *filter_expression,
				       int exclusion_count, char **exclusion_names)
{
	static const struct lttng_event all = {.type = LTTNG_EVENT_ALL};
	const struct lttng_event *const wanted = event ? event : &all;
	struct request request;
	int code;

	if (exclusion_count < 0 || (exclusion_count && !exclusion_names) ||
	    (filter_expression && !*filter_expression))
		return -LTTNG_ERR_INVALID;
	if (handle && handle->domain.type != LTTNG_DOMAIN_KERNEL &&
	    !is_of_user_space(wanted->type))
		return -LTTNG_ERR_INVALID;
	code = begin(&request, "enable-event", handle, channel_name);
	if (code)
		return code;
	control_write_text(&request, "name", *wanted->name ? wanted->name : "*");
	write_levels(&request, wanted);
	control_write_text(&request, "filter", filter_expression);
	control_begin_list(&request, "exclusions");
	for (int i = 0; i < exclusion_count; i++)
		control_write_text(&request, NULL, exclusion_names[i]);
	control_end_list(&request);
	return control_ask(&request, NULL);
}

int lttng_enable_event_with_filter(struct lttng_handle *handle, struct lttng_event *event,
				   const char *channel_name, const char *filter_expression)
{
	return lttng_enable_event_with_exclusions(handle, event, channel_name, filter_expression,
						  0, NULL);
}

int lttng_enable_event(struct lttng_handle *handle, struct lttng_event *ev,
		       const char *channel_name)
{
	if (!ev)
		return -LTTNG_ERR_INVALID;
	return lttng_enable_event_with_exclusions(handle, ev, channel_name, NULL, 0, NULL);
}

int lttng_disable_event(struct lttng_handle *handle, const char *name, const char *channel_name)
{
	struct request request;
	const int code = begin(&request, "disable-event", handle, channel_name);

	if (code)
		return code;
	control_write_text(&request, "name", name && *name ? name : NULL);
	return control_ask(&request, NULL);
}

int lttng_disable_event_ext(struct lttng_handle *handle, struct lttng_event *ev,
			    const char *channel_name, const char *filter_expression)
{
	if (!ev)
		return -LTTNG_ERR_INVALID;
	/* As with LTTng, rules are disabled by their names alone. */
	if (filter_expression)
		return -LTTNG_ERR_NOT_SUPPORTED;
	return lttng_disable_event(handle, ev->name, channel_name);
}
