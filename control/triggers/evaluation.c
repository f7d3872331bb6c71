/*
 * Evaluations: what was found when a condition was true.
 *
 * SPDX-License-Identifier: MIT
 */
#include "evaluation.h"

#include <stdlib.h>

#include <lttng/lttng.h>

#include "../protocol/text.h"
#include "../sessions/location.h"
#include "condition.h"
#include "event_field_value.h"

struct lttng_evaluation {
	enum lttng_condition_type type;
	uint64_t bytes;
	double ratio;
	/* The number of a rotation. */
	uint64_t rotation;
	struct lttng_trace_archive_location location;
	/* NULL if nothing is to be captured. */
	struct lttng_event_field_value *captures;
};

struct lttng_evaluation *control_read_evaluation(const struct json *found)
{
	const enum lttng_condition_type type =
		control_condition_type(control_text_member(found, "type"));
	const struct json *const captures = control_member(found, "captures");
	struct lttng_evaluation *evaluation;

	if (type == LTTNG_CONDITION_TYPE_UNKNOWN)
		return NULL;
	evaluation = calloc(1, sizeof(*evaluation));
	if (!evaluation)
		return NULL;
	evaluation->type = type;
	evaluation->bytes = control_whole_member(found, "bytes");
	evaluation->ratio = control_real_member(found, "ratio");
	evaluation->rotation = control_whole_member(found, "rotation");
	if (captures && captures->type == JSON_LIST) {
		evaluation->captures = control_read_values(captures);
		if (!evaluation->captures) {
			lttng_evaluation_destroy(evaluation);
			return NULL;
		}
	}
	if (control_replace(&evaluation->location.path, control_text_member(found, "location")))
		return evaluation;
	lttng_evaluation_destroy(evaluation);
	return NULL;
}

enum lttng_condition_type lttng_evaluation_get_type(const struct lttng_evaluation *evaluation)
{
	return evaluation ? evaluation->type : LTTNG_CONDITION_TYPE_UNKNOWN;
}

void lttng_evaluation_destroy(struct lttng_evaluation *evaluation)
{
	if (!evaluation)
		return;
	free(evaluation->location.path);
	control_free_value(evaluation->captures);
	free(evaluation);
}

static bool is_of_buffers(const struct lttng_evaluation *evaluation)
{
	return evaluation &&
		(evaluation->type == LTTNG_CONDITION_TYPE_BUFFER_USAGE_HIGH ||
		 evaluation->type == LTTNG_CONDITION_TYPE_BUFFER_USAGE_LOW);
}

enum lttng_evaluation_status
lttng_evaluation_buffer_usage_get_usage_ratio(const struct lttng_evaluation *evaluation,
					      double *usage_ratio)
{
	if (!is_of_buffers(evaluation) || !usage_ratio)
		return LTTNG_EVALUATION_STATUS_INVALID;
	*usage_ratio = evaluation->ratio;
	return LTTNG_EVALUATION_STATUS_OK;
}

enum lttng_evaluation_status
lttng_evaluation_buffer_usage_get_usage(const struct lttng_evaluation *evaluation,
					uint64_t *usage_bytes)
{
	if (!is_of_buffers(evaluation) || !usage_bytes)
		return LTTNG_EVALUATION_STATUS_INVALID;
	*usage_bytes = evaluation->bytes;
	return LTTNG_EVALUATION_STATUS_OK;
}

enum lttng_evaluation_status lttng_evaluation_session_consumed_size_get_consumed_size(
	const struct lttng_evaluation *evaluation, uint64_t *session_consumed)
{
	if (!evaluation || evaluation->type != LTTNG_CONDITION_TYPE_SESSION_CONSUMED_SIZE ||
	    !session_consumed)
		return LTTNG_EVALUATION_STATUS_INVALID;
	*session_consumed = evaluation->bytes;
	return LTTNG_EVALUATION_STATUS_OK;
}

enum lttng_evaluation_status
lttng_evaluation_session_rotation_get_id(const struct lttng_evaluation *evaluation, uint64_t *id)
{
	if (!evaluation || !id ||
	    (evaluation->type != LTTNG_CONDITION_TYPE_SESSION_ROTATION_ONGOING &&
	     evaluation->type != LTTNG_CONDITION_TYPE_SESSION_ROTATION_COMPLETED))
		return LTTNG_EVALUATION_STATUS_INVALID;
	*id = evaluation->rotation;
	return LTTNG_EVALUATION_STATUS_OK;
}

enum lttng_evaluation_status lttng_evaluation_session_rotation_completed_get_location(
	const struct lttng_evaluation *evaluation,
	const struct lttng_trace_archive_location **location)
{
	if (!evaluation || evaluation->type != LTTNG_CONDITION_TYPE_SESSION_ROTATION_COMPLETED ||
	    !location)
		return LTTNG_EVALUATION_STATUS_INVALID;
	if (!evaluation->location.path)
		return LTTNG_EVALUATION_STATUS_UNSET;
	*location = &evaluation->location;
	return LTTNG_EVALUATION_STATUS_OK;
}

enum lttng_evaluation_event_rule_matches_status
lttng_evaluation_event_rule_matches_get_captured_values(
	const struct lttng_evaluation *evaluation,
	const struct lttng_event_field_value **field_val)
{
	if (!evaluation || evaluation->type != LTTNG_CONDITION_TYPE_EVENT_RULE_MATCHES ||
	    !field_val)
		return LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_INVALID;
	if (!evaluation->captures)
		return LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_NONE;
	*field_val = evaluation->captures;
	return LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_OK;
}
