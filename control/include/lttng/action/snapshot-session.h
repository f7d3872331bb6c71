/*
 * An action that takes a snapshot of a session. It needs the session's name before it can be registered; names
 * and policies are copied. Without a policy it is done each time.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_SNAPSHOT_SESSION_H
#define VESTIGE_LTTNG_ACTION_SNAPSHOT_SESSION_H

#include <lttng/action/action.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action;
struct lttng_snapshot_output;
struct lttng_rate_policy;

struct lttng_action *lttng_action_snapshot_session_create(void);

enum lttng_action_status
lttng_action_snapshot_session_set_session_name(struct lttng_action *action,
					       const char *session_name);

enum lttng_action_status
lttng_action_snapshot_session_get_session_name(const struct lttng_action *action,
					       const char **session_name);

/* The action takes the output over. Without one, the session's are meant. */
enum lttng_action_status
lttng_action_snapshot_session_set_output(struct lttng_action *action,
					 struct lttng_snapshot_output *output);

enum lttng_action_status
lttng_action_snapshot_session_get_output(const struct lttng_action *action,
					 const struct lttng_snapshot_output **output);

enum lttng_action_status
lttng_action_snapshot_session_set_rate_policy(struct lttng_action *action,
					      const struct lttng_rate_policy *policy);

enum lttng_action_status
lttng_action_snapshot_session_get_rate_policy(const struct lttng_action *action,
					      const struct lttng_rate_policy **policy);

#ifdef __cplusplus
}
#endif

#endif
