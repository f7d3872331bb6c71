/*
 * Endpoints: what tells the two apart is where they are.
 *
 * SPDX-License-Identifier: MIT
 */
#include <lttng/endpoint.h>

struct lttng_endpoint {
	char unused;
};

static struct lttng_endpoint notifications, commands;

struct lttng_endpoint *lttng_session_daemon_notification_endpoint = &notifications;
struct lttng_endpoint *lttng_session_daemon_command_endpoint = &commands;
