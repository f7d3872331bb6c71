/*
 * A condition that a session has written a number of bytes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_SESSION_CONSUMED_SIZE_H
#define VESTIGE_LTTNG_CONDITION_SESSION_CONSUMED_SIZE_H

#include <stdint.h>
#include <lttng/condition/condition.h>
#include <lttng/condition/evaluation.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_condition *lttng_condition_session_consumed_size_create(void);

enum lttng_condition_status
lttng_condition_session_consumed_size_get_threshold(const struct lttng_condition *condition,
						    uint64_t *consumed_threshold_bytes);

enum lttng_condition_status
lttng_condition_session_consumed_size_set_threshold(struct lttng_condition *condition,
						    uint64_t consumed_threshold_bytes);

enum lttng_condition_status
lttng_condition_session_consumed_size_get_session_name(const struct lttng_condition *condition,
						       const char **session_name);

enum lttng_condition_status
lttng_condition_session_consumed_size_set_session_name(struct lttng_condition *condition,
						       const char *session_name);

enum lttng_evaluation_status lttng_evaluation_session_consumed_size_get_consumed_size(
	const struct lttng_evaluation *evaluation, uint64_t *session_consumed);

#ifdef __cplusplus
}
#endif

#endif
