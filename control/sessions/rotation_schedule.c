/*
 * Schedules of rotations: after a time, or a number of bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdbool.h>
#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"

struct lttng_rotation_schedule {
	enum lttng_rotation_schedule_type type;
	/* Bytes or microseconds. */
	uint64_t value;
	bool is_set;
};

struct lttng_rotation_schedules {
	unsigned int count;
	/* One of each type at most. */
	struct lttng_rotation_schedule schedules[2];
};

enum lttng_rotation_schedule_type
lttng_rotation_schedule_get_type(const struct lttng_rotation_schedule *schedule)
{
	return schedule ? schedule->type : LTTNG_ROTATION_SCHEDULE_TYPE_UNKNOWN;
}

static struct lttng_rotation_schedule *new_schedule(enum lttng_rotation_schedule_type type)
{
	struct lttng_rotation_schedule *const schedule = calloc(1, sizeof(*schedule));

	if (schedule)
		schedule->type = type;
	return schedule;
}

static enum lttng_rotation_status get_value(const struct lttng_rotation_schedule *schedule,
					    enum lttng_rotation_schedule_type type,
					    uint64_t *value)
{
	if (!schedule || schedule->type != type || !value)
		return LTTNG_ROTATION_STATUS_INVALID;
	if (!schedule->is_set)
		return LTTNG_ROTATION_STATUS_UNAVAILABLE;
	*value = schedule->value;
	return LTTNG_ROTATION_STATUS_OK;
}

static enum lttng_rotation_status set_value(struct lttng_rotation_schedule *schedule,
					    enum lttng_rotation_schedule_type type,
					    uint64_t value)
{
	if (!schedule || schedule->type != type || value == 0 || value == UINT64_MAX)
		return LTTNG_ROTATION_STATUS_INVALID;
	schedule->value = value;
	schedule->is_set = true;
	return LTTNG_ROTATION_STATUS_OK;
}

struct lttng_rotation_schedule *lttng_rotation_schedule_size_threshold_create(void)
{
	return new_schedule(LTTNG_ROTATION_SCHEDULE_TYPE_SIZE_THRESHOLD);
}

enum lttng_rotation_status lttng_rotation_schedule_size_threshold_get_threshold(
	const struct lttng_rotation_schedule *schedule, uint64_t *size_threshold_bytes)
{
	return get_value(schedule, LTTNG_ROTATION_SCHEDULE_TYPE_SIZE_THRESHOLD,
			 size_threshold_bytes);
}

enum lttng_rotation_status
lttng_rotation_schedule_size_threshold_set_threshold(struct lttng_rotation_schedule *schedule,
						     uint64_t size_threshold_bytes)
{
	return set_value(schedule, LTTNG_ROTATION_SCHEDULE_TYPE_SIZE_THRESHOLD,
			 size_threshold_bytes);
}

struct lttng_rotation_schedule *lttng_rotation_schedule_periodic_create(void)
{
	return new_schedule(LTTNG_ROTATION_SCHEDULE_TYPE_PERIODIC);
}

enum lttng_rotation_status
lttng_rotation_schedule_periodic_get_period(const struct lttng_rotation_schedule *schedule,
					    uint64_t *period_us)
{
	return get_value(schedule, LTTNG_ROTATION_SCHEDULE_TYPE_PERIODIC, period_us);
}

enum lttng_rotation_status
lttng_rotation_schedule_periodic_set_period(struct lttng_rotation_schedule *schedule,
					    uint64_t period_us)
{
	return set_value(schedule, LTTNG_ROTATION_SCHEDULE_TYPE_PERIODIC, period_us);
}

void lttng_rotation_schedule_destroy(struct lttng_rotation_schedule *schedule)
{
	free(schedule);
}

void lttng_rotation_schedules_destroy(struct lttng_rotation_schedules *schedules)
{
	free(schedules);
}

enum lttng_rotation_status
lttng_rotation_schedules_get_count(const struct lttng_rotation_schedules *schedules,
				   unsigned int *count)
{
	if (!schedules || !count)
		return LTTNG_ROTATION_STATUS_INVALID;
	*count = schedules->count;
	return LTTNG_ROTATION_STATUS_OK;
}

const struct lttng_rotation_schedule *
lttng_rotation_schedules_get_at_index(const struct lttng_rotation_schedules *schedules,
				      unsigned int index)
{
	return schedules && index < schedules->count ? &schedules->schedules[index] : NULL;
}

static const char *kind_of(const struct lttng_rotation_schedule *schedule)
{
	return schedule->type == LTTNG_ROTATION_SCHEDULE_TYPE_PERIODIC ? "timer" : "size";
}

static enum lttng_rotation_status status_of(int code)
{
	switch (-code) {
	case 0:
		return LTTNG_ROTATION_STATUS_OK;
	case LTTNG_ERR_INVALID:
		return LTTNG_ROTATION_STATUS_INVALID;
	case LTTNG_ERR_ROTATION_SCHEDULE_SET:
		return LTTNG_ROTATION_STATUS_SCHEDULE_ALREADY_SET;
	case LTTNG_ERR_ROTATION_SCHEDULE_NOT_SET:
		return LTTNG_ROTATION_STATUS_SCHEDULE_NOT_SET;
	default:
		return LTTNG_ROTATION_STATUS_ERROR;
	}
}

static enum lttng_rotation_status change(const char *verb, const char *session,
					 const struct lttng_rotation_schedule *schedule)
{
	struct request request;

	if (!session || !schedule || !schedule->is_set)
		return LTTNG_ROTATION_STATUS_INVALID;
	control_begin_request(&request, verb);
	control_write_text(&request, "session", session);
	control_write_text(&request, "kind", kind_of(schedule));
	control_write_whole(&request, "value", schedule->value);
	return status_of(control_ask(&request, NULL));
}

enum lttng_rotation_status
lttng_session_add_rotation_schedule(const char *session_name,
				    const struct lttng_rotation_schedule *schedule)
{
	return change("enable-rotation", session_name, schedule);
}

enum lttng_rotation_status
lttng_session_remove_rotation_schedule(const char *session_name,
				       const struct lttng_rotation_schedule *schedule)
{
	return change("disable-rotation", session_name, schedule);
}

static void add(struct lttng_rotation_schedules *schedules,
		enum lttng_rotation_schedule_type type, uint64_t value)
{
	struct lttng_rotation_schedule *const schedule = &schedules->schedules[schedules->count];

	if (value == 0)
		return;
	schedule->type = type;
	schedule->value = value;
	schedule->is_set = true;
	schedules->count++;
}

int lttng_session_list_rotation_schedules(const char *session_name,
					  struct lttng_rotation_schedules **schedules)
{
	struct lttng_rotation_schedules *found;
	struct answer answer;
	int code;

	if (!session_name || !schedules)
		return -LTTNG_ERR_INVALID;
	code = control_ask_of_session("describe", session_name, &answer);
	if (code)
		return code;
	found = calloc(1, sizeof(*found));
	if (found) {
		add(found, LTTNG_ROTATION_SCHEDULE_TYPE_PERIODIC,
		    control_whole_member(answer.value, "rotation_timer"));
		add(found, LTTNG_ROTATION_SCHEDULE_TYPE_SIZE_THRESHOLD,
		    control_whole_member(answer.value, "rotation_size"));
		*schedules = found;
	}
	control_free_answer(&answer);
	return found ? LTTNG_OK : -LTTNG_ERR_NOMEM;
}
