/*
 * Notifications, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_NOTIFICATION_H
#define VESTIGE_CONTROL_NOTIFICATION_H

#include <lttng/notification/notification.h>

#include "../protocol/json.h"

/* Return a notification, NULL if it is none or there is no memory. */
struct lttng_notification *control_read_notification(const struct json *found);

#endif
