/*
 * Triggers: see trigger.h.
 *
 * Daemons know each trigger by a name. One that was registered without a name has one that says
 * what it is, by which it is found again, and which programs do not see.
 *
 * SPDX-License-Identifier: MIT
 */
#include "trigger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "action.h"
#include "condition.h"

#define ANONYMOUS "anonymous-"

struct lttng_trigger *lttng_trigger_create(struct lttng_condition *condition,
					   struct lttng_action *action)
{
	struct lttng_trigger *trigger;

	if (!condition || !action)
		return NULL;
	trigger = calloc(1, sizeof(*trigger));
	if (!trigger)
		return NULL;
	trigger->condition = control_hold_condition(condition);
	trigger->action = control_hold_action(action);
	return trigger;
}

void lttng_trigger_destroy(struct lttng_trigger *trigger)
{
	if (!trigger)
		return;
	lttng_condition_destroy(trigger->condition);
	lttng_action_destroy(trigger->action);
	free(trigger->name);
	free(trigger);
}

enum lttng_trigger_status lttng_trigger_set_owner_uid(struct lttng_trigger *trigger, uid_t uid)
{
	if (!trigger)
		return LTTNG_TRIGGER_STATUS_INVALID;
	/* The daemon looks, too; here, it is told at once. */
	if (geteuid() != 0 && geteuid() != uid)
		return LTTNG_TRIGGER_STATUS_PERMISSION_DENIED;
	trigger->owner = uid;
	trigger->has_owner = true;
	return LTTNG_TRIGGER_STATUS_OK;
}

enum lttng_trigger_status lttng_trigger_get_owner_uid(const struct lttng_trigger *trigger,
						      uid_t *uid)
{
	if (!trigger || !uid)
		return LTTNG_TRIGGER_STATUS_INVALID;
	if (!trigger->has_owner)
		return LTTNG_TRIGGER_STATUS_UNSET;
	*uid = trigger->owner;
	return LTTNG_TRIGGER_STATUS_OK;
}

struct lttng_condition *lttng_trigger_get_condition(struct lttng_trigger *trigger)
{
	return trigger ? trigger->condition : NULL;
}

const struct lttng_condition *
lttng_trigger_get_const_condition(const struct lttng_trigger *trigger)
{
	return trigger ? trigger->condition : NULL;
}

struct lttng_action *lttng_trigger_get_action(struct lttng_trigger *trigger)
{
	return trigger ? trigger->action : NULL;
}

const struct lttng_action *lttng_trigger_get_const_action(const struct lttng_trigger *trigger)
{
	return trigger ? trigger->action : NULL;
}

enum lttng_trigger_status lttng_trigger_get_name(const struct lttng_trigger *trigger,
						 const char **name)
{
	if (!trigger || !name)
		return LTTNG_TRIGGER_STATUS_INVALID;
	*name = trigger->name;
	return *name ? LTTNG_TRIGGER_STATUS_OK : LTTNG_TRIGGER_STATUS_UNSET;
}

void control_write_trigger(struct request *request, const char *name,
			   const struct lttng_trigger *trigger)
{
	control_begin_object(request, name);
	if (trigger->has_owner)
		control_write_whole(request, "owner_uid", trigger->owner);
	if (trigger->name)
		control_write_text(request, "name", trigger->name);
	if (trigger->is_anonymous)
		control_write_flag(request, "is_anonymous", true);
	control_write_condition(request, "condition", trigger->condition);
	control_write_action(request, "action", trigger->action);
	control_end_object(request);
}

struct lttng_trigger *control_read_trigger(const struct json *found)
{
	const char *const name = control_text_member(found, "name");
	const struct json *const owner = control_member(found, "owner_uid");
	struct lttng_trigger *const trigger = calloc(1, sizeof(*trigger));

	if (!trigger)
		return NULL;
	trigger->condition = control_read_condition(control_member(found, "condition"));
	trigger->action = control_read_action(control_member(found, "action"));
	trigger->has_owner = owner && owner->type == JSON_INTEGER;
	trigger->owner = trigger->has_owner ? (uid_t) owner->integer : 0;
	if (trigger->condition && trigger->action &&
	    (!name || control_flag_member(found, "is_anonymous") ||
	     control_replace(&trigger->name, name)))
		return trigger;
	lttng_trigger_destroy(trigger);
	return NULL;
}

const char *control_trigger_name(const struct lttng_trigger *trigger, char *buffer)
{
	struct request text = {0};
	uint64_t hash = 0xcbf29ce484222325;

	if (trigger->name)
		return trigger->name;
	control_write_condition(&text, NULL, trigger->condition);
	control_write_action(&text, NULL, trigger->action);
	/* FNV-1a. */
	for (size_t i = 0; !text.has_failed && i < text.length; i++)
		hash = (hash ^ (unsigned char) text.bytes[i]) * 0x100000001b3;
	control_free_request(&text);
	if (text.has_failed)
		return NULL;
	snprintf(buffer, CONTROL_LONGEST_TRIGGER_NAME, ANONYMOUS "%016" PRIx64, hash);
	return buffer;
}

/* Register a trigger by a name, or by one that the daemon chooses; fill in what it got. */
static int register_as(const struct lttng_trigger *trigger, const char *name, bool is_anonymous,
		       struct answer *answer)
{
	struct lttng_trigger named = *trigger;
	struct request request;

	if (!control_is_complete_condition(trigger->condition) ||
	    !control_is_complete_action(trigger->action))
		return -LTTNG_ERR_INVALID_TRIGGER;
	/* It is only written. */
	named.name = (char *) name;
	named.is_anonymous = is_anonymous;
	control_begin_request(&request, "register-trigger");
	control_write_trigger(&request, "trigger", &named);
	return control_ask(&request, answer);
}

/* Let a trigger have what the daemon says that it has. */
static void take_over(struct lttng_trigger *trigger, const struct answer *answer, bool has_name)
{
	const struct json *const found = control_member(answer->value, "trigger");
	const struct json *const owner = control_member(found, "owner_uid");

	if (!trigger->has_owner && owner && owner->type == JSON_INTEGER) {
		trigger->owner = (uid_t) owner->integer;
		trigger->has_owner = true;
	}
	if (has_name)
		control_replace(&trigger->name, control_text_member(found, "name"));
}

/* Register a trigger that has no name yet. */
static int register_new(struct lttng_trigger *trigger, const char *name, bool is_anonymous)
{
	struct answer answer;
	int code;

	if (!trigger || trigger->name)
		return -LTTNG_ERR_INVALID;
	code = register_as(trigger, name, is_anonymous, &answer);
	if (code)
		return code;
	take_over(trigger, &answer, !is_anonymous);
	control_free_answer(&answer);
	return 0;
}

enum lttng_error_code lttng_register_trigger_with_name(struct lttng_trigger *trigger,
						       const char *name)
{
	const int code = name && *name ? register_new(trigger, name, false) : -LTTNG_ERR_INVALID;

	return code ? (enum lttng_error_code) - code : LTTNG_OK;
}

enum lttng_error_code lttng_register_trigger_with_automatic_name(struct lttng_trigger *trigger)
{
	const int code = register_new(trigger, NULL, false);

	return code ? (enum lttng_error_code) - code : LTTNG_OK;
}

int lttng_register_trigger(struct lttng_trigger *trigger)
{
	char buffer[CONTROL_LONGEST_TRIGGER_NAME];
	const char *name;

	if (!trigger)
		return -LTTNG_ERR_INVALID;
	if (!control_is_complete_condition(trigger->condition) ||
	    !control_is_complete_action(trigger->action))
		return -LTTNG_ERR_INVALID_TRIGGER;
	name = control_trigger_name(trigger, buffer);
	return name ? register_new(trigger, name, true) : -LTTNG_ERR_NOMEM;
}

int lttng_unregister_trigger(const struct lttng_trigger *trigger)
{
	char buffer[CONTROL_LONGEST_TRIGGER_NAME];
	const char *name;
	struct request request;

	if (!trigger)
		return -LTTNG_ERR_INVALID;
	if (!control_is_complete_condition(trigger->condition) ||
	    !control_is_complete_action(trigger->action))
		return -LTTNG_ERR_INVALID_TRIGGER;
	name = control_trigger_name(trigger, buffer);
	if (!name)
		return -LTTNG_ERR_NOMEM;
	control_begin_request(&request, "unregister-trigger");
	control_write_text(&request, "name", name);
	if (!trigger->name)
		control_write_flag(&request, "is_anonymous", true);
	if (trigger->has_owner)
		control_write_whole(&request, "owner_uid", trigger->owner);
	return control_ask(&request, NULL);
}
