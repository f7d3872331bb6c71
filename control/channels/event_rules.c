/*
 * Recording event rules: enabling and disabling them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "domain_names.h"
#include "event.h"

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

static void write_kernel_place(struct request *request,
			       const struct lttng_event_probe_attr *probe)
{
	char symbol[sizeof(probe->symbol_name) + 1] = {0};

	memcpy(symbol, probe->symbol_name, sizeof(probe->symbol_name));
	control_begin_object(request, "location");
	if (probe->addr) {
		control_write_text(request, "type", "address");
		control_write_whole(request, "address", probe->addr);
	} else {
		control_write_text(request, "type", "symbol");
		control_write_text(request, "name", symbol);
		control_write_whole(request, "offset", probe->offset);
	}
	control_end_object(request);
}

static void write_program_place(struct request *request,
				const struct lttng_userspace_probe_location *place)
{
	const char *const path = lttng_userspace_probe_location_function_get_binary_path(place);

	control_begin_object(request, "location");
	if (path) {
		control_write_text(request, "type", "function");
		control_write_text(request, "path", path);
		control_write_text(
			request, "function",
			lttng_userspace_probe_location_function_get_function_name(place));
	} else {
		control_write_text(request, "type", "tracepoint");
		control_write_text(
			request, "path",
			lttng_userspace_probe_location_tracepoint_get_binary_path(place));
		control_write_text(
			request, "provider",
			lttng_userspace_probe_location_tracepoint_get_provider_name(place));
		control_write_text(
			request, "probe",
			lttng_userspace_probe_location_tracepoint_get_probe_name(place));
	}
	control_end_object(request);
}

/* Write what rules of the kernel alone have; return an error code. */
static int write_kernel(struct request *request, const struct lttng_event *event)
{
	const struct lttng_userspace_probe_location *place;

	control_write_text(request, "type", control_event_type_name(event->type));
	switch (event->type) {
	case LTTNG_EVENT_PROBE:
	case LTTNG_EVENT_FUNCTION:
		write_kernel_place(request, &event->attr.probe);
		return 0;
	case LTTNG_EVENT_USERSPACE_PROBE:
		place = lttng_event_get_userspace_probe_location(event);
		if (!place)
			return -LTTNG_ERR_INVALID;
		write_program_place(request, place);
		return 0;
	default:
		return 0;
	}
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
	bool is_kernel;
	int code;

	if (exclusion_count < 0 || (exclusion_count && !exclusion_names) ||
	    (filter_expression && !*filter_expression))
		return -LTTNG_ERR_INVALID;
	is_kernel = handle && handle->domain.type == LTTNG_DOMAIN_KERNEL;
	if (handle && !is_kernel && !is_of_user_space(wanted->type))
		return -LTTNG_ERR_INVALID;
	if (is_kernel && !control_event_type_name(wanted->type))
		return -LTTNG_ERR_KERN_EVENT_ENOSYS;
	code = begin(&request, "enable-event", handle, channel_name);
	if (code)
		return code;
	control_write_text(&request, "name", *wanted->name ? wanted->name : "*");
	if (is_kernel)
		code = write_kernel(&request, wanted);
	else
		write_levels(&request, wanted);
	if (code) {
		control_free_request(&request);
		return code;
	}
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

static int disable(const struct lttng_handle *handle, const char *name,
		   enum lttng_event_type type, const char *channel_name)
{
	struct request request;
	const int code = begin(&request, "disable-event", handle, channel_name);

	if (code)
		return code;
	control_write_text(&request, "name", name && *name ? name : NULL);
	if (handle->domain.type == LTTNG_DOMAIN_KERNEL)
		control_write_text(&request, "type", control_event_type_name(type));
	return control_ask(&request, NULL);
}

int lttng_disable_event(struct lttng_handle *handle, const char *name, const char *channel_name)
{
	return disable(handle, name, LTTNG_EVENT_ALL, channel_name);
}

int lttng_disable_event_ext(struct lttng_handle *handle, struct lttng_event *ev,
			    const char *channel_name, const char *filter_expression)
{
	if (!ev)
		return -LTTNG_ERR_INVALID;
	/* As with LTTng, rules are disabled by their names, and by types in the kernel. */
	if (filter_expression)
		return -LTTNG_ERR_NOT_SUPPORTED;
	return disable(handle, ev->name, ev->type, channel_name);
}
