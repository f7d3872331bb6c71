/*
 * Takes snapshots of sessions, rotates and clears them. Its word is a directory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

static struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

static void enable(const char *session)
{
	struct lttng_handle *const handle = lttng_create_handle(session, &domain);
	struct lttng_event event = {.type = LTTNG_EVENT_TRACEPOINT, .name = "app:*"};

	CHECK_CODE(lttng_enable_event(handle, &event, NULL), 0);
	lttng_destroy_handle(handle);
}

static void check_outputs(const char *directory)
{
	struct lttng_snapshot_output_list *outputs = NULL;
	struct lttng_snapshot_output *output;

	CHECK_CODE(lttng_snapshot_list_output("flight", &outputs), 0);
	output = lttng_snapshot_output_list_get_next(outputs);
	CHECK_TEXT(lttng_snapshot_output_get_name(output), "kept");
	CHECK_TEXT(lttng_snapshot_output_get_ctrl_url(output), directory);
	CHECK(lttng_snapshot_output_get_maxsize(output) == 64u << 20);
	CHECK(lttng_snapshot_output_get_id(output) == 1);
	CHECK(lttng_snapshot_output_list_get_next(outputs) == NULL);
	lttng_snapshot_output_list_destroy(outputs);
}

static void take_snapshots(const char *directory)
{
	struct lttng_snapshot_output *const output = lttng_snapshot_output_create();
	struct lttng_snapshot_output *const remote = lttng_snapshot_output_create();
	struct lttng_session *sessions;

	CHECK_CODE(lttng_create_session_snapshot("flight", NULL), 0);
	CHECK_CODE(lttng_list_sessions(&sessions), 1);
	CHECK(sessions->snapshot_mode == 1);
	free(sessions);
	enable("flight");
	CHECK_CODE(lttng_snapshot_record("flight", NULL, 0), -LTTNG_ERR_START_SESSION_ONCE);
	CHECK_CODE(lttng_start_tracing("flight"), 0);
	CHECK_CODE(lttng_snapshot_record("flight", NULL, 0), -LTTNG_ERR_SNAPSHOT_FAIL);
	CHECK_CODE(lttng_snapshot_output_set_name("kept", output), 0);
	CHECK_CODE(lttng_snapshot_output_set_size(64u << 20, output), 0);
	CHECK_CODE(lttng_snapshot_add_output("flight", output), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_snapshot_output_set_local_path(directory, output), 0);
	CHECK_CODE(lttng_snapshot_add_output("flight", output), 0);
	CHECK_CODE(lttng_snapshot_add_output("flight", output), -LTTNG_ERR_SNAPSHOT_OUTPUT_EXIST);
	check_outputs(directory);
	CHECK_CODE(lttng_snapshot_record("flight", NULL, 0), 0);
	CHECK_CODE(lttng_snapshot_output_set_network_url("net://host", remote), 0);
	CHECK_CODE(lttng_snapshot_record("flight", remote, 0), -LTTNG_ERR_NOT_SUPPORTED);
	CHECK_CODE(lttng_rotate_session("flight", NULL, NULL), -LTTNG_ERR_ROTATION_NOT_AVAILABLE);
	CHECK_CODE(lttng_snapshot_del_output("flight", output), 0);
	CHECK_CODE(lttng_snapshot_del_output("flight", output), -LTTNG_ERR_INVALID);
	CHECK_CODE(lttng_destroy_session("flight"), 0);
	lttng_snapshot_output_destroy(output);
	lttng_snapshot_output_destroy(remote);
}

static void rotate(void)
{
	const struct lttng_trace_archive_location *location;
	struct lttng_rotation_handle *handle = NULL;
	enum lttng_rotation_state state;
	const char *path = NULL;

	CHECK_CODE(lttng_rotate_session("turning", NULL, &handle), 0);
	CHECK_CODE(lttng_rotation_handle_get_state(handle, &state), 0);
	CHECK(state == LTTNG_ROTATION_STATE_COMPLETED);
	CHECK_CODE(lttng_rotation_handle_get_archive_location(handle, &location), 0);
	CHECK(lttng_trace_archive_location_get_type(location) ==
	      LTTNG_TRACE_ARCHIVE_LOCATION_TYPE_LOCAL);
	CHECK_CODE(lttng_trace_archive_location_local_get_absolute_path(location, &path), 0);
	CHECK(path && strstr(path, "/archives/"));
	lttng_rotation_handle_destroy(handle);
}

static void schedule(void)
{
	struct lttng_rotation_schedule *const size = lttng_rotation_schedule_size_threshold_create();
	struct lttng_rotation_schedule *const period = lttng_rotation_schedule_periodic_create();
	struct lttng_rotation_schedules *schedules = NULL;
	unsigned int count = 0;
	uint64_t value = 0;

	CHECK_CODE(lttng_session_add_rotation_schedule("turning", size),
		   LTTNG_ROTATION_STATUS_INVALID);
	CHECK_CODE(lttng_rotation_schedule_size_threshold_get_threshold(size, &value),
		   LTTNG_ROTATION_STATUS_UNAVAILABLE);
	CHECK_CODE(lttng_rotation_schedule_size_threshold_set_threshold(size, 1u << 30), 0);
	CHECK_CODE(lttng_rotation_schedule_periodic_set_period(period, 3600000000u), 0);
	CHECK_CODE(lttng_rotation_schedule_periodic_set_period(size, 5),
		   LTTNG_ROTATION_STATUS_INVALID);
	CHECK_CODE(lttng_session_add_rotation_schedule("turning", size), 0);
	CHECK_CODE(lttng_session_add_rotation_schedule("turning", size),
		   LTTNG_ROTATION_STATUS_SCHEDULE_ALREADY_SET);
	CHECK_CODE(lttng_session_add_rotation_schedule("turning", period), 0);
	CHECK_CODE(lttng_session_list_rotation_schedules("turning", &schedules), LTTNG_OK);
	CHECK_CODE(lttng_rotation_schedules_get_count(schedules, &count), 0);
	CHECK(count == 2);
	CHECK_CODE(lttng_rotation_schedule_periodic_get_period(
			   lttng_rotation_schedules_get_at_index(schedules, 0), &value),
		   0);
	CHECK(value == 3600000000u);
	lttng_rotation_schedules_destroy(schedules);
	CHECK_CODE(lttng_session_remove_rotation_schedule("turning", size), 0);
	CHECK_CODE(lttng_session_remove_rotation_schedule("turning", size),
		   LTTNG_ROTATION_STATUS_SCHEDULE_NOT_SET);
	lttng_rotation_schedule_destroy(size);
	lttng_rotation_schedule_destroy(period);
}

static void clear(void)
{
	struct lttng_clear_handle *handle = NULL;
	enum lttng_error_code result = LTTNG_ERR_UNK;

	CHECK_CODE(lttng_clear_session("nothing", &handle), LTTNG_ERR_SESS_NOT_FOUND);
	CHECK_CODE(lttng_clear_session("turning", &handle), LTTNG_OK);
	CHECK_CODE(lttng_clear_handle_wait_for_completion(handle, -1),
		   LTTNG_CLEAR_HANDLE_STATUS_COMPLETED);
	CHECK_CODE(lttng_clear_handle_get_result(handle, &result), 0);
	CHECK(result == LTTNG_OK);
	lttng_clear_handle_destroy(handle);
}

static void end_rotated(void)
{
	const struct lttng_trace_archive_location *location;
	struct lttng_destruction_handle *handle = NULL;
	enum lttng_rotation_state state;

	CHECK_CODE(lttng_destroy_session_ext("turning", &handle), LTTNG_OK);
	CHECK_CODE(lttng_destruction_handle_get_rotation_state(handle, &state), 0);
	CHECK(state == LTTNG_ROTATION_STATE_COMPLETED);
	CHECK_CODE(lttng_destruction_handle_get_archive_location(handle, &location), 0);
	lttng_destruction_handle_destroy(handle);
}

int main(int argc, char **argv)
{
	char trace[4096];

	(void) argc;
	take_snapshots(argv[1]);
	snprintf(trace, sizeof(trace), "%s/trace", argv[1]);
	CHECK_CODE(lttng_create_session("turning", trace), 0);
	enable("turning");
	CHECK_CODE(lttng_rotate_session("turning", NULL, NULL), -LTTNG_ERR_START_SESSION_ONCE);
	CHECK_CODE(lttng_start_tracing("turning"), 0);
	rotate();
	schedule();
	clear();
	end_rotated();
	return failures != 0;
}
