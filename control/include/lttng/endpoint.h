/*
 * Where notification channels and queries of errors go: the session daemon.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_ENDPOINT_H
#define VESTIGE_LTTNG_ENDPOINT_H

#ifdef __cplusplus
extern "C" {
#endif

/* These are only compared and given to functions; nothing can be seen of them. */
extern struct lttng_endpoint *lttng_session_daemon_notification_endpoint;

extern struct lttng_endpoint *lttng_session_daemon_command_endpoint;

#ifdef __cplusplus
}
#endif

#endif
