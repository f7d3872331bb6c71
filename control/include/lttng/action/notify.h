/*
 * An action that tells all notification channels that have subscribed to the condition.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_NOTIFY_H
#define VESTIGE_LTTNG_ACTION_NOTIFY_H

#include <lttng/action/action.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action;
struct lttng_rate_policy;

struct lttng_action *lttng_action_notify_create(void);

/* The policy is copied. Without one, each time is told. */
enum lttng_action_status
lttng_action_notify_set_rate_policy(struct lttng_action *action,
				    const struct lttng_rate_policy *policy);

enum lttng_action_status
lttng_action_notify_get_rate_policy(const struct lttng_action *action,
				    const struct lttng_rate_policy **policy);

#ifdef __cplusplus
}
#endif

#endif
