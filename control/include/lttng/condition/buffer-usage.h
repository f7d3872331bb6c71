/*
 * Conditions on how full the ring buffers of a channel are, as its monitor timer sees it.
 *
 * Both are true when the threshold is crossed: upwards the one, downwards the other.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONDITION_BUFFER_USAGE_H
#define VESTIGE_LTTNG_CONDITION_BUFFER_USAGE_H

#include <stdint.h>
#include <lttng/condition/condition.h>
#include <lttng/condition/evaluation.h>
#include <lttng/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_condition *lttng_condition_buffer_usage_low_create(void);

struct lttng_condition *lttng_condition_buffer_usage_high_create(void);

/*
 * A threshold is a part of the buffers, from 0 to 1, or bytes: which is set last counts, and the
 * other is UNSET then.
 */
enum lttng_condition_status
lttng_condition_buffer_usage_get_threshold_ratio(const struct lttng_condition *condition,
						 double *threshold_ratio);

enum lttng_condition_status
lttng_condition_buffer_usage_set_threshold_ratio(struct lttng_condition *condition,
						 double threshold_ratio);

enum lttng_condition_status
lttng_condition_buffer_usage_get_threshold(const struct lttng_condition *condition,
					   uint64_t *threshold_bytes);

enum lttng_condition_status
lttng_condition_buffer_usage_set_threshold(struct lttng_condition *condition,
					   uint64_t threshold_bytes);

/* Which channel is meant. Texts are copied; those that are given belong to the condition. */
enum lttng_condition_status
lttng_condition_buffer_usage_get_session_name(const struct lttng_condition *condition,
					      const char **session_name);

enum lttng_condition_status
lttng_condition_buffer_usage_set_session_name(struct lttng_condition *condition,
					      const char *session_name);

enum lttng_condition_status
lttng_condition_buffer_usage_get_channel_name(const struct lttng_condition *condition,
					      const char **channel_name);

enum lttng_condition_status
lttng_condition_buffer_usage_set_channel_name(struct lttng_condition *condition,
					      const char *channel_name);

enum lttng_condition_status
lttng_condition_buffer_usage_get_domain_type(const struct lttng_condition *condition,
					     enum lttng_domain_type *type);

enum lttng_condition_status
lttng_condition_buffer_usage_set_domain_type(struct lttng_condition *condition,
					     enum lttng_domain_type type);

enum lttng_evaluation_status
lttng_evaluation_buffer_usage_get_usage_ratio(const struct lttng_evaluation *evaluation,
					      double *usage_ratio);

enum lttng_evaluation_status
lttng_evaluation_buffer_usage_get_usage(const struct lttng_evaluation *evaluation,
					uint64_t *usage_bytes);

#ifdef __cplusplus
}
#endif

#endif
