/*
 * Conditions that a rotation of a session has begun, or has ended.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_SESSION_ROTATION_H
#define VESTIGE_LTTNG_CONDITION_SESSION_ROTATION_H

#include <stdint.h>
#include <lttng/condition/condition.h>
#include <lttng/condition/evaluation.h>
#include <lttng/domain.h>
#include <lttng/location.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_condition *lttng_condition_session_rotation_ongoing_create(void);

struct lttng_condition *lttng_condition_session_rotation_completed_create(void);

enum lttng_condition_status
lttng_condition_session_rotation_get_session_name(const struct lttng_condition *condition,
						  const char **session_name);

enum lttng_condition_status
lttng_condition_session_rotation_set_session_name(struct lttng_condition *condition,
						  const char *session_name);

enum lttng_evaluation_status
lttng_evaluation_session_rotation_get_id(const struct lttng_evaluation *evaluation, uint64_t *id);

/* It belongs to the evaluation. */
enum lttng_evaluation_status lttng_evaluation_session_rotation_completed_get_location(
	const struct lttng_evaluation *evaluation,
	const struct lttng_trace_archive_location **location);

#ifdef __cplusplus
}
#endif

#endif
