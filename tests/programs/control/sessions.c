/*
 * Works with sessions by the control library. Its words are two directories: where traces and
 * files go, and where ring buffers are.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

static struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

static void make_channel(struct lttng_handle *handle)
{
	struct lttng_channel *const channel = lttng_channel_create(&domain);
	struct lttng_channel *listed;
	uint64_t number;
	int64_t timeout;

	strcpy(channel->name, "wide");
	channel->attr.num_subbuf = 8;
	CHECK_CODE(lttng_channel_set_blocking_timeout(channel, 100), 0);
	CHECK_CODE(lttng_channel_set_blocking_timeout(channel, -2), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_channel_set_monitor_timer_interval(channel, 250000), 0);
	CHECK_CODE(lttng_enable_channel(handle, channel), 0);
	CHECK_CODE(lttng_enable_channel(handle, channel), -LTTNG_ERR_UST_CHAN_EXIST);
	lttng_channel_destroy(channel);
	CHECK_CODE(lttng_list_channels(handle, &listed), 1);
	CHECK_TEXT(listed->name, "wide");
	CHECK(listed->enabled == 1);
	CHECK(listed->attr.subbuf_size == 524288 && listed->attr.num_subbuf == 8);
	CHECK(listed->attr.overwrite == 0 && listed->attr.output == LTTNG_EVENT_MMAP);
	CHECK_CODE(lttng_channel_get_blocking_timeout(listed, &timeout), 0);
	CHECK(timeout == 100);
	CHECK_CODE(lttng_channel_get_monitor_timer_interval(listed, &number), 0);
	CHECK(number == 250000);
	CHECK_CODE(lttng_channel_get_discarded_event_count(listed, &number), 0);
	CHECK(number == 0);
	CHECK_CODE(lttng_channel_get_lost_packet_count(listed, &number), 0);
	CHECK(number == 0);
	free(listed);
}

static void make_rules(struct lttng_handle *handle)
{
	char *exclusions[] = {"app:quiet", "app:\"odd\"\n\\"};
	struct lttng_event *const event = lttng_event_create();
	struct lttng_event *listed;
	const char *text;

	event->type = LTTNG_EVENT_TRACEPOINT;
	strcpy(event->name, "app:*");
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_RANGE;
	event->loglevel = LTTNG_LOGLEVEL_INFO;
	CHECK_CODE(lttng_enable_event_with_exclusions(handle, event, "wide", "x > 1 && s == \"é\"",
						      2, exclusions),
		   0);
	CHECK_CODE(lttng_enable_event_with_filter(handle, event, "wide", "1 +"),
		   -LTTNG_ERR_FILTER_INVAL);
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), 0);
	CHECK_CODE(lttng_enable_event(handle, event, "wide"), -LTTNG_ERR_UST_EVENT_ENABLED);
	lttng_event_destroy(event);
	CHECK_CODE(lttng_list_events(handle, "nowhere", &listed), -LTTNG_ERR_UST_CHAN_NOT_FOUND);
	CHECK_CODE(lttng_list_events(handle, "wide", &listed), 2);
	CHECK_TEXT(listed[0].name, "app:*");
	CHECK(listed[0].enabled == 1 && listed[0].filter == 1 && listed[0].exclusion == 1);
	CHECK(listed[0].loglevel_type == LTTNG_EVENT_LOGLEVEL_RANGE && listed[0].loglevel == 6);
	CHECK_CODE(lttng_event_get_filter_expression(&listed[0], &text), 0);
	CHECK_TEXT(text, "x > 1 && s == \"é\"");
	CHECK_CODE(lttng_event_get_exclusion_name_count(&listed[0]), 2);
	CHECK_CODE(lttng_event_get_exclusion_name(&listed[0], 1, &text), 0);
	CHECK_TEXT(text, exclusions[1]);
	CHECK_CODE(lttng_event_get_exclusion_name(&listed[0], 2, &text), -LTTNG_ERR_INVALID);
	CHECK(listed[1].filter == 0 && lttng_event_get_exclusion_name_count(&listed[1]) == 0);
	CHECK_CODE(lttng_event_get_filter_expression(&listed[1], &text), 0);
	CHECK(text == NULL);
	free(listed);
	CHECK_CODE(lttng_disable_event(handle, "app:*", "wide"), 0);
	CHECK_CODE(lttng_disable_event(handle, "nothing", "wide"), -LTTNG_ERR_UST_EVENT_NOT_FOUND);
	CHECK_CODE(lttng_list_events(handle, "wide", &listed), 2);
	CHECK(listed[0].enabled == 0 && listed[1].enabled == 0);
	free(listed);
}

static void add_contexts(struct lttng_handle *handle)
{
	struct lttng_event_context context = {.ctx = LTTNG_EVENT_CONTEXT_VTID};

	CHECK_CODE(lttng_add_context(handle, &context, NULL, "wide"), 0);
	CHECK_CODE(lttng_add_context(handle, &context, NULL, "wide"),
		   -LTTNG_ERR_UST_CONTEXT_EXIST);
	context.ctx = LTTNG_EVENT_CONTEXT_PRIO;
	CHECK_CODE(lttng_add_context(handle, &context, NULL, "wide"),
		   -LTTNG_ERR_UST_CONTEXT_INVAL);
	context.ctx = LTTNG_EVENT_CONTEXT_PERF_THREAD_COUNTER;
	context.u.perf_counter.type = 0;
	context.u.perf_counter.config = 1;
	CHECK_CODE(lttng_add_context(handle, &context, NULL, NULL), 0);
	context.u.perf_counter.type = 3;
	context.u.perf_counter.config = 0x10000;
	CHECK_CODE(lttng_add_context(handle, &context, NULL, NULL), 0);
	context.ctx = LTTNG_EVENT_CONTEXT_APP_CONTEXT;
	context.u.app_ctx.provider_name = "provider";
	context.u.app_ctx.ctx_name = "type";
	CHECK_CODE(lttng_add_context(handle, &context, NULL, NULL), 0);
	context.ctx = (enum lttng_event_context_type) 9999;
	CHECK_CODE(lttng_add_context(handle, &context, NULL, NULL), -LTTNG_ERR_UST_CONTEXT_INVAL);
}

static void choose_processes(void)
{
	struct lttng_process_attr_tracker_handle *handle;
	const struct lttng_process_attr_values *values;
	enum lttng_tracking_policy policy;
	const char *name;
	unsigned int count;
	uid_t uid;
	pid_t pid;

	CHECK_CODE(lttng_session_get_tracker_handle("nothing", LTTNG_DOMAIN_UST,
						    LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID, &handle),
		   LTTNG_ERR_SESS_NOT_FOUND);
	CHECK_CODE(lttng_session_get_tracker_handle("first", LTTNG_DOMAIN_UST,
						    LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID, &handle),
		   LTTNG_OK);
	CHECK_CODE(lttng_process_attr_tracker_handle_get_tracking_policy(handle, &policy), 0);
	CHECK(policy == LTTNG_TRACKING_POLICY_INCLUDE_ALL);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_add_uid(handle, 5),
		   LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID_TRACKING_POLICY);
	CHECK_CODE(lttng_process_attr_tracker_handle_set_tracking_policy(
			   handle, LTTNG_TRACKING_POLICY_INCLUDE_SET),
		   0);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_add_uid(handle, 5), 0);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_add_uid(handle, 5),
		   LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS);
	CHECK_CODE(lttng_process_attr_virtual_process_id_tracker_handle_add_pid(handle, 5),
		   LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_INVALID);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_remove_uid(handle, 6),
		   LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_MISSING);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_add_user_name(handle, "root"),
		   0);
	CHECK_CODE(lttng_process_attr_virtual_user_id_tracker_handle_add_user_name(handle,
										   "no such"),
		   LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_USER_NOT_FOUND);
	CHECK_CODE(lttng_process_attr_tracker_handle_get_inclusion_set(handle, &values), 0);
	CHECK_CODE(lttng_process_attr_values_get_count(values, &count), 0);
	CHECK(count == 2);
	CHECK_CODE(lttng_process_attr_values_get_uid_at_index(values, 0, &uid), 0);
	CHECK(uid == 5);
	CHECK_CODE(lttng_process_attr_values_get_pid_at_index(values, 0, &pid),
		   LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID_TYPE);
	CHECK_CODE(lttng_process_attr_values_get_user_name_at_index(values, 1, &name), 0);
	CHECK_TEXT(name, "root");
	CHECK_CODE(lttng_process_attr_values_get_uid_at_index(values, 2, &uid),
		   LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID);
	lttng_process_attr_tracker_handle_destroy(handle);
}

static void choose_processes_by_number(struct lttng_handle *handle)
{
	int is_enabled;
	int32_t *pids;
	size_t count;

	CHECK_CODE(lttng_list_tracker_pids(handle, &is_enabled, &pids, &count), 0);
	CHECK(is_enabled == 0 && count == 0);
	free(pids);
	CHECK_CODE(lttng_track_pid(handle, 77), 0);
	CHECK_CODE(lttng_track_pid(handle, 77), -LTTNG_ERR_PID_TRACKED);
	CHECK_CODE(lttng_untrack_pid(handle, 78), -LTTNG_ERR_PID_NOT_TRACKED);
	CHECK_CODE(lttng_list_tracker_pids(handle, &is_enabled, &pids, &count), 0);
	CHECK(is_enabled == 1 && count == 1 && pids[0] == 77);
	free(pids);
	CHECK_CODE(lttng_track_pid(handle, -1), 0);
}

static void save_and_load(const char *directory)
{
	struct lttng_save_session_attr *const save = lttng_save_session_attr_create();
	struct lttng_load_session_attr *const load = lttng_load_session_attr_create();
	char url[4096];

	snprintf(url, sizeof(url), "file://%s/saved/deeper", directory);
	CHECK_CODE(lttng_save_session_attr_set_output_url(save, url), 0);
	CHECK_CODE(lttng_save_session_attr_set_session_name(save, "first"), 0);
	CHECK_CODE(lttng_save_session(save), 0);
	CHECK_CODE(lttng_save_session(save), -LTTNG_ERR_SAVE_FILE_EXIST);
	CHECK_CODE(lttng_save_session_attr_set_overwrite(save, 1), 0);
	CHECK_CODE(lttng_save_session(save), 0);
	CHECK_CODE(lttng_save_session_attr_set_output_url(save, "relative"), -LTTNG_ERR_INVALID);
	lttng_save_session_attr_destroy(save);

	CHECK_CODE(lttng_load_session_attr_set_input_url(load, url), 0);
	CHECK_CODE(lttng_load_session(load), -LTTNG_ERR_EXIST_SESS);
	CHECK_CODE(lttng_load_session_attr_set_override_session_name(load, "second"), 0);
	CHECK_CODE(lttng_load_session(load), 0);
	CHECK_CODE(lttng_load_session_attr_set_session_name(load, "nothing"), 0);
	CHECK_CODE(lttng_load_session(load), -LTTNG_ERR_LOAD_SESSION_NOENT);
	lttng_load_session_attr_destroy(load);
	CHECK_CODE(lttng_destroy_session("second"), 0);
}

static void end_session(void)
{
	struct lttng_destruction_handle *handle;
	enum lttng_rotation_state state;
	enum lttng_error_code result;

	CHECK_CODE(lttng_destroy_session_ext("nothing", &handle), LTTNG_ERR_SESS_NOT_FOUND);
	CHECK_CODE(lttng_destroy_session_ext("first", &handle), LTTNG_OK);
	CHECK_CODE(lttng_destruction_handle_wait_for_completion(handle, 0),
		   LTTNG_DESTRUCTION_HANDLE_STATUS_COMPLETED);
	CHECK_CODE(lttng_destruction_handle_get_result(handle, &result), 0);
	CHECK(result == LTTNG_OK);
	CHECK_CODE(lttng_destruction_handle_get_rotation_state(handle, &state), 0);
	CHECK(state == LTTNG_ROTATION_STATE_NO_ROTATION);
	lttng_destruction_handle_destroy(handle);
}

static void describe_sessions(const char *directory)
{
	struct lttng_session_descriptor *descriptor =
		lttng_session_descriptor_local_create(NULL, directory);
	const char *name;

	CHECK_CODE(lttng_session_descriptor_get_session_name(descriptor, &name),
		   LTTNG_SESSION_DESCRIPTOR_STATUS_UNSET);
	CHECK_CODE(lttng_create_session_ext(descriptor), LTTNG_OK);
	CHECK_CODE(lttng_session_descriptor_get_session_name(descriptor, &name), 0);
	CHECK(strncmp(name, "auto-", 5) == 0);
	CHECK_CODE(lttng_destroy_session(name), 0);
	lttng_session_descriptor_destroy(descriptor);
	CHECK(lttng_session_descriptor_local_create("x", "relative") == NULL);
	descriptor = lttng_session_descriptor_network_create("x", "net://host", NULL);
	CHECK_CODE(lttng_create_session_ext(descriptor), LTTNG_ERR_NOT_SUPPORTED);
	lttng_session_descriptor_destroy(descriptor);
	CHECK_CODE(lttng_create_session("x", "net://host"), -LTTNG_ERR_NOT_SUPPORTED);
	CHECK_CODE(lttng_create_session_live("x", NULL, 1000), -LTTNG_ERR_NOT_SUPPORTED);
	CHECK_CODE(lttng_create_session("a/b", NULL), -LTTNG_ERR_SESSION_INVALID_CHAR);
}

int main(int argc, char **argv)
{
	struct lttng_handle *const handle = lttng_create_handle("first", &domain);
	struct lttng_domain *domains;
	struct lttng_session *sessions;
	struct lttng_event *events;
	uint64_t created = 0;

	(void) argc;
	CHECK_CODE(lttng_session_daemon_alive(), 1);
	CHECK_CODE(lttng_list_sessions(&sessions), 0);
	free(sessions);
	CHECK_CODE(lttng_create_session("first", argv[1]), 0);
	CHECK_CODE(lttng_create_session("first", argv[1]), -LTTNG_ERR_EXIST_SESS);
	CHECK_CODE(lttng_start_tracing("first"), -LTTNG_ERR_NO_CHANNEL);
	CHECK_CODE(lttng_set_session_shm_path("first", "relative"), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_set_session_shm_path("nothing", argv[1]), -LTTNG_ERR_SESS_NOT_FOUND);
	CHECK_CODE(lttng_set_session_shm_path("first", argv[2]), 0);
	make_channel(handle);
	make_rules(handle);
	add_contexts(handle);
	choose_processes();
	choose_processes_by_number(handle);
	CHECK_CODE(lttng_list_domains("first", &domains), 1);
	CHECK(domains->type == LTTNG_DOMAIN_UST && domains->buf_type == LTTNG_BUFFER_PER_UID);
	free(domains);
	CHECK_CODE(lttng_start_tracing("first"), 0);
	CHECK_CODE(lttng_start_tracing("first"), -LTTNG_ERR_TRACE_ALREADY_STARTED);
	CHECK_CODE(lttng_data_pending("first"), -LTTNG_ERR_SESSION_STARTED);
	CHECK_CODE(lttng_set_session_shm_path("first", argv[2]),
		   -LTTNG_ERR_TRACE_ALREADY_STARTED);
	CHECK_CODE(lttng_regenerate_statedump("first"), 0);
	CHECK_CODE(lttng_list_sessions(&sessions), 1);
	CHECK_TEXT(sessions->name, "first");
	CHECK_TEXT(sessions->path, argv[1]);
	CHECK(sessions->enabled == 1);
	CHECK_CODE(lttng_session_get_creation_time(sessions, &created), LTTNG_OK);
	CHECK(created > 1700000000);
	free(sessions);
	CHECK_CODE(lttng_list_tracepoints(handle, &events), 0);
	free(events);
	CHECK_CODE(lttng_stop_tracing("first"), 0);
	CHECK_CODE(lttng_stop_tracing("first"), -LTTNG_ERR_TRACE_ALREADY_STOPPED);
	CHECK_CODE(lttng_data_pending("first"), 0);
	CHECK_CODE(lttng_disable_channel(handle, "wide"), 0);
	save_and_load(argv[1]);
	end_session();
	describe_sessions(argv[1]);
	lttng_destroy_handle(handle);
	return failures != 0;
}
