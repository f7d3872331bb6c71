/*
 * The kernel's domain by the control library: the daemon can record it, or not.
 *
 * Its argument is the error code of a daemon that cannot, 0 for one that can.
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "checks.h"

static void list_points(int refusal)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL};
	struct lttng_handle *const handle = lttng_create_handle(NULL, &domain);
	struct lttng_event *found = NULL;
	int count, is_found = 0;

	count = lttng_list_tracepoints(handle, &found);
	if (refusal) {
		CHECK(count == refusal);
		CHECK_CODE(lttng_list_syscalls(&found), refusal);
	} else {
		CHECK(count > 0);
		for (int i = 0; i < count; i++)
			is_found |= strcmp(found[i].name, "sched_switch") == 0;
		CHECK(is_found && found[0].type == LTTNG_EVENT_TRACEPOINT);
		free(found);
		count = lttng_list_syscalls(&found);
		CHECK(count > 0 && found[0].type == LTTNG_EVENT_SYSCALL);
		CHECK(found[0].flags == LTTNG_EVENT_FLAG_SYSCALL_64);
		free(found);
	}
	lttng_destroy_handle(handle);
}

static void enable_rules(struct lttng_handle *handle)
{
	struct lttng_userspace_probe_location *place;
	struct lttng_event *const event = lttng_event_create();
	struct lttng_event *listed;
	const char *filter;

	event->type = LTTNG_EVENT_TRACEPOINT;
	strcpy(event->name, "sched_switch");
	CHECK_CODE(lttng_enable_event_with_filter(handle, event, "wide", "next_tid > 1"), 0);
	CHECK_CODE(lttng_enable_event_with_filter(handle, event, "wide", "next_tid > 1"),
		   -LTTNG_ERR_KERN_EVENT_EXIST);
	event->type = LTTNG_EVENT_SYSCALL;
	strcpy(event->name, "no such call");
	/* As with LTTng, it may come later. */
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), 0);
	strcpy(event->name, "openat");
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), 0);
	event->type = LTTNG_EVENT_USERSPACE_PROBE;
	strcpy(event->name, "made");
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), -LTTNG_ERR_INVALID);
	place = lttng_userspace_probe_location_function_create("/bin/sh", "no_such_symbol", NULL);
	CHECK_CODE(lttng_event_set_userspace_probe_location(event, place), 0);
	event->type = LTTNG_EVENT_NOOP;
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), -LTTNG_ERR_KERN_EVENT_ENOSYS);
	CHECK_CODE(lttng_list_events(handle, "nowhere", &listed), -LTTNG_ERR_KERN_CHAN_NOT_FOUND);
	CHECK_CODE(lttng_list_events(handle, "wide", &listed), 3);
	CHECK_TEXT(listed[0].name, "sched_switch");
	CHECK(listed[0].type == LTTNG_EVENT_TRACEPOINT && listed[0].filter == 1);
	CHECK_CODE(lttng_event_get_filter_expression(&listed[0], &filter), 0);
	CHECK_TEXT(filter, "next_tid > 1");
	CHECK(listed[2].type == LTTNG_EVENT_SYSCALL && listed[2].enabled == 1);
	free(listed);
	event->type = LTTNG_EVENT_SYSCALL;
	event->name[0] = 0;
	CHECK_CODE(lttng_disable_event_ext(handle, event, "wide", NULL), 0);
	CHECK_CODE(lttng_list_events(handle, "wide", &listed), 3);
	CHECK(listed[0].enabled == 1 && listed[2].enabled == 0);
	free(listed);
	lttng_event_destroy(event);
}

static void track(struct lttng_handle *handle)
{
	struct lttng_process_attr_tracker_handle *set;
	enum lttng_tracking_policy policy;
	int32_t *pids;
	size_t count;
	int enabled;

	CHECK_CODE(lttng_session_get_tracker_handle("kernel", LTTNG_DOMAIN_KERNEL,
						    LTTNG_PROCESS_ATTR_GROUP_ID, &set),
		   LTTNG_OK);
	CHECK_CODE(lttng_process_attr_tracker_handle_set_tracking_policy(
			   set, LTTNG_TRACKING_POLICY_INCLUDE_SET),
		   0);
	CHECK_CODE(lttng_process_attr_group_id_tracker_handle_add_gid(set, 7), 0);
	CHECK_CODE(lttng_process_attr_tracker_handle_get_tracking_policy(set, &policy), 0);
	CHECK(policy == LTTNG_TRACKING_POLICY_INCLUDE_SET);
	lttng_process_attr_tracker_handle_destroy(set);
	CHECK_CODE(lttng_track_pid(handle, 5), 0);
	CHECK_CODE(lttng_list_tracker_pids(handle, &enabled, &pids, &count), 0);
	CHECK(enabled == 1 && count == 1 && pids[0] == 5);
	free(pids);
}

static void use_channels(struct lttng_handle *handle, int refusal)
{
	struct lttng_event_context context = {.ctx = LTTNG_EVENT_CONTEXT_TID};
	struct lttng_channel *const channel = lttng_channel_create(&handle->domain);
	struct lttng_channel *channels;
	struct lttng_domain *domains;

	strcpy(channel->name, "wide");
	CHECK_CODE(lttng_enable_channel(handle, channel), refusal);
	if (!refusal) {
		CHECK_CODE(lttng_enable_channel(handle, channel), -LTTNG_ERR_KERN_CHAN_EXIST);
		CHECK_CODE(lttng_list_channels(handle, &channels), 1);
		CHECK_TEXT(channels[0].name, "wide");
		CHECK(channels[0].attr.output == LTTNG_EVENT_SPLICE);
		CHECK(channels[0].attr.subbuf_size == 1 << 20);
		free(channels);
		CHECK_CODE(lttng_list_domains("kernel", &domains), 1);
		CHECK(domains[0].type == LTTNG_DOMAIN_KERNEL);
		CHECK(domains[0].buf_type == LTTNG_BUFFER_GLOBAL);
		free(domains);
		CHECK_CODE(lttng_add_context(handle, &context, NULL, "wide"), 0);
		enable_rules(handle);
		track(handle);
		CHECK_CODE(lttng_disable_channel(handle, "wide"), 0);
	}
	lttng_channel_destroy(channel);
}

int main(int count, char **words)
{
	struct lttng_domain domain = {
		.type = LTTNG_DOMAIN_KERNEL,
		.buf_type = LTTNG_BUFFER_GLOBAL,
	};
	const int refusal = -atoi(words[count - 1]);
	struct lttng_handle *handle;

	list_points(refusal);
	CHECK_CODE(lttng_create_session("kernel", NULL), 0);
	handle = lttng_create_handle("kernel", &domain);
	use_channels(handle, refusal);
	lttng_destroy_handle(handle);
	CHECK_CODE(lttng_destroy_session("kernel"), 0);
	return failures != 0;
}
