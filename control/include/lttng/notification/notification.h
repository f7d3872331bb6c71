/*
 * A notification: which condition was true, and how. All it gives belongs to it.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_NOTIFICATION_NOTIFICATION_H
#define VESTIGE_LTTNG_NOTIFICATION_NOTIFICATION_H

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_condition;
struct lttng_evaluation;
struct lttng_notification;
struct lttng_trigger;

const struct lttng_condition *
lttng_notification_get_condition(struct lttng_notification *notification);

const struct lttng_evaluation *
lttng_notification_get_evaluation(struct lttng_notification *notification);

const struct lttng_trigger *
lttng_notification_get_trigger(struct lttng_notification *notification);

void lttng_notification_destroy(struct lttng_notification *notification);

/* The same for those that must not change it; LTTng has them in its library alone. */
const struct lttng_condition *
lttng_notification_get_const_condition(const struct lttng_notification *notification);
const struct lttng_evaluation *
lttng_notification_get_const_evaluation(const struct lttng_notification *notification);
const struct lttng_trigger *
lttng_notification_get_const_trigger(const struct lttng_notification *notification);

#ifdef __cplusplus
}
#endif

#endif
