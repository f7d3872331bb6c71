/*
 * An action that is a list of actions, done in their order.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ACTION_LIST_H
#define VESTIGE_LTTNG_ACTION_LIST_H

#include <lttng/action/action.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action;
struct lttng_action_list;

struct lttng_action *lttng_action_list_create(void);

/* The list has a part in the action then; the caller keeps the own one. */
enum lttng_action_status lttng_action_list_add_action(struct lttng_action *list,
						      struct lttng_action *action);

enum lttng_action_status lttng_action_list_get_count(const struct lttng_action *list,
						     unsigned int *count);

/* Return an action that belongs to the list; NULL if there is none. */
const struct lttng_action *lttng_action_list_get_at_index(const struct lttng_action *list,
							  unsigned int index);

#ifdef __cplusplus
}
#endif

#endif
