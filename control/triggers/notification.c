/*
 * Notifications: which trigger, and what was found.
 *
 * SPDX-License-Identifier: MIT
 */
#include "notification.h"

#include <stdlib.h>

#include "evaluation.h"
#include "trigger.h"

struct lttng_notification {
	struct lttng_trigger *trigger;
	struct lttng_evaluation *evaluation;
};

struct lttng_notification *control_read_notification(const struct json *found)
{
	struct lttng_notification *const notification = calloc(1, sizeof(*notification));

	if (!notification)
		return NULL;
	notification->trigger = control_read_trigger(control_member(found, "trigger"));
	notification->evaluation = control_read_evaluation(control_member(found, "evaluation"));
	if (notification->trigger && notification->evaluation)
		return notification;
	lttng_notification_destroy(notification);
	return NULL;
}

void lttng_notification_destroy(struct lttng_notification *notification)
{
	if (!notification)
		return;
	lttng_trigger_destroy(notification->trigger);
	lttng_evaluation_destroy(notification->evaluation);
	free(notification);
}

const struct lttng_condition *
lttng_notification_get_const_condition(const struct lttng_notification *notification)
{
	return notification ? notification->trigger->condition : NULL;
}

const struct lttng_evaluation *
lttng_notification_get_const_evaluation(const struct lttng_notification *notification)
{
	return notification ? notification->evaluation : NULL;
}

const struct lttng_trigger *
lttng_notification_get_const_trigger(const struct lttng_notification *notification)
{
	return notification ? notification->trigger : NULL;
}

const struct lttng_condition *
lttng_notification_get_condition(struct lttng_notification *notification)
{
	return lttng_notification_get_const_condition(notification);
}

const struct lttng_evaluation *
lttng_notification_get_evaluation(struct lttng_notification *notification)
{
	return lttng_notification_get_const_evaluation(notification);
}

const struct lttng_trigger *
lttng_notification_get_trigger(struct lttng_notification *notification)
{
	return lttng_notification_get_const_trigger(notification);
}
