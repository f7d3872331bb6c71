/*
 * How often an action is done, of the times that a condition becomes true.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_RATE_POLICY_H
#define VESTIGE_LTTNG_ACTION_RATE_POLICY_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_rate_policy;

enum lttng_rate_policy_status {
	LTTNG_RATE_POLICY_STATUS_OK = 0,
	LTTNG_RATE_POLICY_STATUS_ERROR = -1,
	LTTNG_RATE_POLICY_STATUS_UNKNOWN = -2,
	LTTNG_RATE_POLICY_STATUS_INVALID = -3,
	LTTNG_RATE_POLICY_STATUS_UNSET = -4,
	LTTNG_RATE_POLICY_STATUS_UNSUPPORTED = -5,
	LTTNG_RATE_POLICY_STATUS_PERMISSION_DENIED = -6,
};

enum lttng_rate_policy_type {
	LTTNG_RATE_POLICY_TYPE_UNKNOWN = -1,
	LTTNG_RATE_POLICY_TYPE_EVERY_N = 0,
	LTTNG_RATE_POLICY_TYPE_ONCE_AFTER_N = 1,
};

enum lttng_rate_policy_type lttng_rate_policy_get_type(const struct lttng_rate_policy *policy);

/* Each Nth time; NULL for 0. */
struct lttng_rate_policy *lttng_rate_policy_every_n_create(uint64_t interval);

enum lttng_rate_policy_status
lttng_rate_policy_every_n_get_interval(const struct lttng_rate_policy *policy,
				       uint64_t *interval);

/* The Nth time alone; NULL for 0. */
struct lttng_rate_policy *lttng_rate_policy_once_after_n_create(uint64_t threshold);

enum lttng_rate_policy_status
lttng_rate_policy_once_after_n_get_threshold(const struct lttng_rate_policy *policy,
					     uint64_t *threshold);

void lttng_rate_policy_destroy(struct lttng_rate_policy *policy);

#ifdef __cplusplus
}
#endif

#endif
