/*
 * Notification channels: a program is told when conditions are true.
 *
 * Who reads too slowly loses notifications, and is told so.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_NOTIFICATION_CHANNEL_H
#define VESTIGE_LTTNG_NOTIFICATION_CHANNEL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_endpoint;
struct lttng_condition;
struct lttng_notification;
struct lttng_notification_channel;

enum lttng_notification_channel_status {
	LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED = 1,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_INTERRUPTED = 2,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_OK = 0,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_ERROR = -1,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED = -2,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_ALREADY_SUBSCRIBED = -3,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_UNKNOWN_CONDITION = -4,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID = -5,
	LTTNG_NOTIFICATION_CHANNEL_STATUS_UNSUPPORTED_VERSION = -6,
};

/* Connect to an endpoint, lttng_session_daemon_notification_endpoint; NULL if none is there. */
struct lttng_notification_channel *
lttng_notification_channel_create(struct lttng_endpoint *endpoint);

/* Wait for a notification, which is to be destroyed. CLOSED once the daemon has ended. */
enum lttng_notification_channel_status
lttng_notification_channel_get_next_notification(struct lttng_notification_channel *channel,
						 struct lttng_notification **notification);

/* Tell whether one, or the news that some were dropped, can be had without waiting. */
enum lttng_notification_channel_status
lttng_notification_channel_has_pending_notification(struct lttng_notification_channel *channel,
						    bool *notification_pending);

/* Ask to be told when a condition is true that is the same as this one. */
enum lttng_notification_channel_status
lttng_notification_channel_subscribe(struct lttng_notification_channel *channel,
				     const struct lttng_condition *condition);

enum lttng_notification_channel_status
lttng_notification_channel_unsubscribe(struct lttng_notification_channel *channel,
				       const struct lttng_condition *condition);

void lttng_notification_channel_destroy(struct lttng_notification_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
