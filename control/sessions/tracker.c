/*
 * Inclusion sets of a session: which processes may record.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tracker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../channels/domain_names.h"
#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "tracker_values.h"

struct lttng_process_attr_tracker_handle {
	char *session;
	enum lttng_domain_type domain;
	enum lttng_process_attr attribute;
	/* What was given last. */
	struct lttng_process_attr_values *values;
};

/* As sessions name them. */
static const char *const names[] = {
	[LTTNG_PROCESS_ATTR_PROCESS_ID] = "pid", [LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID] = "vpid",
	[LTTNG_PROCESS_ATTR_USER_ID] = "uid",    [LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID] = "vuid",
	[LTTNG_PROCESS_ATTR_GROUP_ID] = "gid",   [LTTNG_PROCESS_ATTR_VIRTUAL_GROUP_ID] = "vgid",
};

#define COUNT (sizeof(names) / sizeof(*names))

int control_track(const char *verb, const char *session, enum lttng_domain_type domain,
		  const char *attribute, const char *value)
{
	struct request request;

	control_begin_request(&request, verb);
	control_write_text(&request, "session", session);
	control_write_text(&request, "domain", control_domain_name(domain));
	control_write_text(&request, "attribute", attribute);
	control_write_text(&request, "value", value);
	return control_ask(&request, NULL);
}

/* Return why there is no such set, 0 if there is one. */
static int find(const struct lttng_process_attr_tracker_handle *handle, struct answer *answer,
		const struct json **set)
{
	int code = control_ask_of_session("describe", handle->session, answer);

	if (code)
		return code;
	*set = control_member(control_member(answer->value,
					     handle->domain == LTTNG_DOMAIN_KERNEL
						     ? "kernel_trackers"
						     : "trackers"),
			      names[handle->attribute]);
	if (*set)
		return 0;
	control_free_answer(answer);
	return -LTTNG_ERR_UNSUPPORTED_DOMAIN;
}

enum lttng_error_code
lttng_session_get_tracker_handle(const char *session_name, enum lttng_domain_type domain,
				 enum lttng_process_attr process_attr,
				 struct lttng_process_attr_tracker_handle **out_tracker_handle)
{
	struct lttng_process_attr_tracker_handle *handle;
	const struct json *set;
	struct answer answer;
	int code;

	if (!session_name || !out_tracker_handle || (unsigned int) process_attr >= COUNT)
		return LTTNG_ERR_INVALID;
	if (domain != LTTNG_DOMAIN_UST && domain != LTTNG_DOMAIN_KERNEL)
		return LTTNG_ERR_UNSUPPORTED_DOMAIN;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return LTTNG_ERR_NOMEM;
	handle->domain = domain;
	handle->attribute = process_attr;
	code = control_replace(&handle->session, session_name) ? find(handle, &answer, &set)
							       : -LTTNG_ERR_NOMEM;
	if (code) {
		lttng_process_attr_tracker_handle_destroy(handle);
		return (enum lttng_error_code) - code;
	}
	control_free_answer(&answer);
	*out_tracker_handle = handle;
	return LTTNG_OK;
}

void lttng_process_attr_tracker_handle_destroy(
	struct lttng_process_attr_tracker_handle *tracker_handle)
{
	if (!tracker_handle)
		return;
	control_free_values(tracker_handle->values);
	free(tracker_handle->session);
	free(tracker_handle);
}

static enum lttng_process_attr_tracker_handle_status status_of(int code)
{
	switch (-code) {
	case 0:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;
	case LTTNG_ERR_PROCESS_ATTR_EXISTS:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS;
	case LTTNG_ERR_PROCESS_ATTR_MISSING:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_MISSING;
	case LTTNG_ERR_USER_NOT_FOUND:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_USER_NOT_FOUND;
	case LTTNG_ERR_GROUP_NOT_FOUND:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_GROUP_NOT_FOUND;
	case LTTNG_ERR_SESS_NOT_FOUND:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_SESSION_DOES_NOT_EXIST;
	case LTTNG_ERR_PROCESS_ATTR_TRACKER_INVALID_TRACKING_POLICY:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID_TRACKING_POLICY;
	case LTTNG_ERR_INVALID:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	case LTTNG_ERR_CONNECT_FAIL:
	case LTTNG_ERR_NO_SESSIOND:
	case LTTNG_ERR_INVALID_PROTOCOL:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_COMMUNICATION_ERROR;
	default:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_ERROR;
	}
}

/* Give the policy that a set stands for. */
static int read_policy(const struct lttng_process_attr_tracker_handle *handle,
		       enum lttng_tracking_policy *policy)
{
	const struct json *set;
	struct answer answer;
	const int code = find(handle, &answer, &set);

	if (code)
		return code;
	if (set->type != JSON_LIST)
		*policy = LTTNG_TRACKING_POLICY_INCLUDE_ALL;
	else
		*policy = set->count ? LTTNG_TRACKING_POLICY_INCLUDE_SET
				     : LTTNG_TRACKING_POLICY_EXCLUDE_ALL;
	control_free_answer(&answer);
	return 0;
}

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_tracker_handle_get_tracking_policy(
	const struct lttng_process_attr_tracker_handle *tracker_handle,
	enum lttng_tracking_policy *policy)
{
	if (!tracker_handle || !policy)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	return status_of(read_policy(tracker_handle, policy));
}

static int change(const struct lttng_process_attr_tracker_handle *handle, const char *verb,
		  const char *value)
{
	return control_track(verb, handle->session, handle->domain, names[handle->attribute],
			     value);
}

enum lttng_process_attr_tracker_handle_status
lttng_process_attr_tracker_handle_set_tracking_policy(
	const struct lttng_process_attr_tracker_handle *tracker_handle,
	enum lttng_tracking_policy policy)
{
	enum lttng_tracking_policy now;
	int code;

	if (!tracker_handle)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	switch (policy) {
	case LTTNG_TRACKING_POLICY_INCLUDE_ALL:
		return status_of(change(tracker_handle, "track", NULL));
	case LTTNG_TRACKING_POLICY_EXCLUDE_ALL:
		return status_of(change(tracker_handle, "untrack", NULL));
	case LTTNG_TRACKING_POLICY_INCLUDE_SET:
		/* An empty set excludes all, so only one of all values is changed. */
		code = read_policy(tracker_handle, &now);
		if (!code && now == LTTNG_TRACKING_POLICY_INCLUDE_ALL)
			code = change(tracker_handle, "untrack", NULL);
		return status_of(code);
	default:
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	}
}

/* Add a value to a set that does not include all, or remove it. */
static enum lttng_process_attr_tracker_handle_status
change_set(const struct lttng_process_attr_tracker_handle *handle,
	   enum lttng_process_attr attribute, const char *verb, const char *value)
{
	enum lttng_tracking_policy policy;
	int code;

	if (!handle || handle->attribute != attribute || !value || !*value)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	code = read_policy(handle, &policy);
	if (!code && policy == LTTNG_TRACKING_POLICY_INCLUDE_ALL)
		code = -LTTNG_ERR_PROCESS_ATTR_TRACKER_INVALID_TRACKING_POLICY;
	return status_of(code ? code : change(handle, verb, value));
}

static enum lttng_process_attr_tracker_handle_status
change_number(const struct lttng_process_attr_tracker_handle *handle,
	      enum lttng_process_attr attribute, const char *verb, int64_t number)
{
	char text[24];

	if (number < 0)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	snprintf(text, sizeof(text), "%" PRId64, number);
	return change_set(handle, attribute, verb, text);
}

/* The functions that add and remove a number, and those for a name. */
#define NUMBERS(set, what, attribute)                                                            \
	enum lttng_process_attr_tracker_handle_status                                            \
	lttng_process_attr_##set##_tracker_handle_add_##what(                                    \
		const struct lttng_process_attr_tracker_handle *handle, what##_t number)         \
	{                                                                                        \
		return change_number(handle, LTTNG_PROCESS_ATTR_##attribute, "track", number);   \
	}                                                                                        \
	enum lttng_process_attr_tracker_handle_status                                            \
	lttng_process_attr_##set##_tracker_handle_remove_##what(                                 \
		const struct lttng_process_attr_tracker_handle *handle, what##_t number)         \
	{                                                                                        \
		return change_number(handle, LTTNG_PROCESS_ATTR_##attribute, "untrack", number); \
	}

#define NAMES(set, what, attribute)                                                         \
	enum lttng_process_attr_tracker_handle_status                                       \
	lttng_process_attr_##set##_tracker_handle_add_##what(                               \
		const struct lttng_process_attr_tracker_handle *handle, const char *name)   \
	{                                                                                   \
		return change_set(handle, LTTNG_PROCESS_ATTR_##attribute, "track", name);   \
	}                                                                                   \
	enum lttng_process_attr_tracker_handle_status                                       \
	lttng_process_attr_##set##_tracker_handle_remove_##what(                            \
		const struct lttng_process_attr_tracker_handle *handle, const char *name)   \
	{                                                                                   \
		return change_set(handle, LTTNG_PROCESS_ATTR_##attribute, "untrack", name); \
	}

NUMBERS(process_id, pid, PROCESS_ID)
NUMBERS(virtual_process_id, pid, VIRTUAL_PROCESS_ID)
NUMBERS(user_id, uid, USER_ID)
NUMBERS(virtual_user_id, uid, VIRTUAL_USER_ID)
NUMBERS(group_id, gid, GROUP_ID)
NUMBERS(virtual_group_id, gid, VIRTUAL_GROUP_ID)
NAMES(user_id, user_name, USER_ID)
NAMES(virtual_user_id, user_name, VIRTUAL_USER_ID)
NAMES(group_id, group_name, GROUP_ID)
NAMES(virtual_group_id, group_name, VIRTUAL_GROUP_ID)

enum lttng_process_attr_tracker_handle_status lttng_process_attr_tracker_handle_get_inclusion_set(
	struct lttng_process_attr_tracker_handle *tracker_handle,
	const struct lttng_process_attr_values **values)
{
	struct lttng_process_attr_values *copy;
	const struct json *set;
	struct answer answer;
	int code;

	if (!tracker_handle || !values)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID;
	code = find(tracker_handle, &answer, &set);
	if (code)
		return status_of(code);
	if (set->type != JSON_LIST) {
		control_free_answer(&answer);
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID_TRACKING_POLICY;
	}
	copy = control_copy_values(set, tracker_handle->attribute);
	control_free_answer(&answer);
	if (!copy)
		return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_ERROR;
	control_free_values(tracker_handle->values);
	tracker_handle->values = copy;
	*values = copy;
	return LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK;
}
