/*
 * Asks a daemon that does not answer as it should; each function must say so and return.
 *
 * SPDX-License-Identifier: MIT
 */
#include "checks.h"

/* A function returns a number of things only if all that it gives can be looked at. */
static void list_all(struct lttng_handle *handle)
{
	struct lttng_session *sessions = NULL;
	struct lttng_channel *channels = NULL;
	struct lttng_event *events = NULL;
	struct lttng_event_field *fields = NULL;
	struct lttng_domain *domains = NULL;
	int count;

	count = lttng_list_sessions(&sessions);
	for (int i = 0; i < count; i++)
		printf("%zu\n", strlen(sessions[i].name) + strlen(sessions[i].path));
	count = lttng_list_channels(handle, &channels);
	for (int i = 0; i < count; i++)
		printf("%zu\n", strlen(channels[i].name));
	count = lttng_list_events(handle, "c", &events);
	for (int i = 0; i < count; i++) {
		const char *text = NULL;

		printf("%zu\n", strlen(events[i].name));
		for (int j = 0; j < lttng_event_get_exclusion_name_count(&events[i]); j++) {
			if (lttng_event_get_exclusion_name(&events[i], (size_t) j, &text) == 0)
				printf("%zu\n", strlen(text));
		}
		if (lttng_event_get_filter_expression(&events[i], &text) == 0 && text)
			printf("%zu\n", strlen(text));
	}
	free(events);
	events = NULL;
	count = lttng_list_tracepoints(handle, &events);
	for (int i = 0; i < count; i++)
		printf("%zu\n", strlen(events[i].name));
	count = lttng_list_tracepoint_fields(handle, &fields);
	for (int i = 0; i < count; i++)
		printf("%zu\n", strlen(fields[i].field_name) + strlen(fields[i].event.name));
	lttng_list_domains("s", &domains);
	free(sessions);
	free(channels);
	free(events);
	free(fields);
	free(domains);
}

static void ask_objects(void)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	const struct lttng_process_attr_values *values;
	struct lttng_snapshot_output_list *outputs = NULL;
	struct lttng_rotation_schedules *schedules = NULL;
	struct lttng_destruction_handle *destruction = NULL;
	struct lttng_rotation_handle *rotation = NULL;
	struct lttng_clear_handle *clearing = NULL;
	struct lttng_triggers *triggers = NULL;
	enum lttng_tracking_policy policy;

	if (lttng_session_get_tracker_handle("s", LTTNG_DOMAIN_UST,
					     LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID,
					     &tracker) == LTTNG_OK) {
		lttng_process_attr_tracker_handle_get_tracking_policy(tracker, &policy);
		lttng_process_attr_tracker_handle_get_inclusion_set(tracker, &values);
		lttng_process_attr_tracker_handle_destroy(tracker);
	}
	if (lttng_snapshot_list_output("s", &outputs) == 0) {
		while (lttng_snapshot_output_list_get_next(outputs))
			;
		lttng_snapshot_output_list_destroy(outputs);
	}
	if (lttng_session_list_rotation_schedules("s", &schedules) == LTTNG_OK)
		lttng_rotation_schedules_destroy(schedules);
	if (lttng_rotate_session("s", NULL, &rotation) == 0)
		lttng_rotation_handle_destroy(rotation);
	if (lttng_clear_session("s", &clearing) == LTTNG_OK)
		lttng_clear_handle_destroy(clearing);
	if (lttng_destroy_session_ext("s", &destruction) == LTTNG_OK)
		lttng_destruction_handle_destroy(destruction);
	if (lttng_list_triggers(&triggers) == LTTNG_OK)
		lttng_triggers_destroy(triggers);
}

int main(int argc, char **argv)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_handle *const handle = lttng_create_handle("s", &domain);
	struct lttng_save_session_attr *const save = lttng_save_session_attr_create();
	const int code = lttng_start_tracing("s");

	list_all(handle);
	ask_objects();
	if (argc > 1) {
		lttng_save_session_attr_set_output_url(save, argv[1]);
		lttng_save_session(save);
	}
	lttng_save_session_attr_destroy(save);
	lttng_destroy_handle(handle);
	printf("start %d\n", code);
	return failures != 0;
}
