/*
 * What was found when a condition was true. Evaluations of notifications belong to these.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_EVALUATION_H
#define VESTIGE_LTTNG_CONDITION_EVALUATION_H

#include <lttng/condition/condition.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_evaluation;

enum lttng_evaluation_status {
	LTTNG_EVALUATION_STATUS_OK = 0,
	LTTNG_EVALUATION_STATUS_ERROR = -1,
	LTTNG_EVALUATION_STATUS_INVALID = -2,
	LTTNG_EVALUATION_STATUS_UNKNOWN = -3,
	LTTNG_EVALUATION_STATUS_UNSET = -4,
};

enum lttng_condition_type lttng_evaluation_get_type(const struct lttng_evaluation *evaluation);

void lttng_evaluation_destroy(struct lttng_evaluation *evaluation);

#ifdef __cplusplus
}
#endif

#endif
