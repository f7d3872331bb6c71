/*
 * Triggers: actions that are done when a condition becomes true.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_TRIGGER_TRIGGER_H
#define VESTIGE_LTTNG_TRIGGER_TRIGGER_H

#include <stdint.h>
#include <sys/types.h>
#include <lttng/constant.h>
#include <lttng/lttng-error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_action;
struct lttng_condition;
struct lttng_trigger;
struct lttng_triggers;

enum lttng_register_trigger_status {
	LTTNG_REGISTER_TRIGGER_STATUS_OK = 0,
	LTTNG_REGISTER_TRIGGER_STATUS_INVALID = -1,
};

enum lttng_trigger_status {
	LTTNG_TRIGGER_STATUS_OK = 0,
	LTTNG_TRIGGER_STATUS_ERROR = -1,
	LTTNG_TRIGGER_STATUS_UNKNOWN = -2,
	LTTNG_TRIGGER_STATUS_INVALID = -3,
	LTTNG_TRIGGER_STATUS_UNSET = -4,
	LTTNG_TRIGGER_STATUS_UNSUPPORTED = -5,
	LTTNG_TRIGGER_STATUS_PERMISSION_DENIED = -6,
};

/* The trigger has a part in both then; the caller keeps the own ones. */
struct lttng_trigger *lttng_trigger_create(struct lttng_condition *condition,
					   struct lttng_action *action);

/* Triggers of others are for root: PERMISSION_DENIED. */
enum lttng_trigger_status lttng_trigger_set_owner_uid(struct lttng_trigger *trigger, uid_t uid);

enum lttng_trigger_status lttng_trigger_get_owner_uid(const struct lttng_trigger *trigger,
						      uid_t *uid);

/* What these give belongs to the trigger. */
struct lttng_condition *lttng_trigger_get_condition(struct lttng_trigger *trigger);

const struct lttng_condition *
lttng_trigger_get_const_condition(const struct lttng_trigger *trigger);

struct lttng_action *lttng_trigger_get_action(struct lttng_trigger *trigger);

const struct lttng_action *lttng_trigger_get_const_action(const struct lttng_trigger *trigger);

/* UNSET until it is registered. */
enum lttng_trigger_status lttng_trigger_get_name(const struct lttng_trigger *trigger,
						 const char **name);

void lttng_trigger_destroy(struct lttng_trigger *trigger);

/* The trigger gets its name, and its owner if it has none. */
enum lttng_error_code lttng_register_trigger_with_name(struct lttng_trigger *trigger,
						       const char *name);

enum lttng_error_code lttng_register_trigger_with_automatic_name(struct lttng_trigger *trigger);

/* By its name and owner. */
int lttng_unregister_trigger(const struct lttng_trigger *trigger);

/* Give all that this user sees. */
enum lttng_error_code lttng_list_triggers(struct lttng_triggers **triggers);

const struct lttng_trigger *lttng_triggers_get_at_index(const struct lttng_triggers *triggers,
							unsigned int index);

enum lttng_trigger_status lttng_triggers_get_count(const struct lttng_triggers *triggers,
						   unsigned int *count);

void lttng_triggers_destroy(struct lttng_triggers *triggers);

LTTNG_DEPRECATED("lttng_register_trigger_with_automatic_name()")
int lttng_register_trigger(struct lttng_trigger *trigger);

#ifdef __cplusplus
}
#endif

#endif
