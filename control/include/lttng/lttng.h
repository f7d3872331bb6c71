/*
 * LTTng's control library: all of its headers, and what works on whole sessions.
 *
 * Functions that return an int return 0, or a number of things, or else a negative
 * lttng_error_code. All functions may be called by several threads at once, as long as no two of
 * them have the same object.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_LTTNG_H
#define VESTIGE_LTTNG_LTTNG_H

#include <lttng/action/action.h>
#include <lttng/action/list.h>
#include <lttng/action/notify.h>
#include <lttng/action/path.h>
#include <lttng/action/rate-policy.h>
#include <lttng/action/rotate-session.h>
#include <lttng/action/snapshot-session.h>
#include <lttng/action/start-session.h>
#include <lttng/action/stop-session.h>
#include <lttng/channel.h>
#include <lttng/clear-handle.h>
#include <lttng/clear.h>
#include <lttng/condition/buffer-usage.h>
#include <lttng/condition/condition.h>
#include <lttng/condition/evaluation.h>
#include <lttng/condition/event-rule-matches.h>
#include <lttng/condition/session-consumed-size.h>
#include <lttng/condition/session-rotation.h>
#include <lttng/constant.h>
#include <lttng/destruction-handle.h>
#include <lttng/domain.h>
#include <lttng/endpoint.h>
#include <lttng/error-query.h>
#include <lttng/event-expr.h>
#include <lttng/event-field-value.h>
#include <lttng/event-rule/event-rule.h>
#include <lttng/event-rule/jul-logging.h>
#include <lttng/event-rule/kernel-kprobe.h>
#include <lttng/event-rule/kernel-syscall.h>
#include <lttng/event-rule/kernel-tracepoint.h>
#include <lttng/event-rule/kernel-uprobe.h>
#include <lttng/event-rule/log4j-logging.h>
#include <lttng/event-rule/python-logging.h>
#include <lttng/event-rule/user-tracepoint.h>
#include <lttng/event.h>
#include <lttng/handle.h>
#include <lttng/kernel-probe.h>
#include <lttng/load.h>
#include <lttng/location.h>
#include <lttng/log-level-rule.h>
#include <lttng/lttng-error.h>
#include <lttng/notification/channel.h>
#include <lttng/notification/notification.h>
#include <lttng/rotation.h>
#include <lttng/save.h>
#include <lttng/session-descriptor.h>
#include <lttng/session.h>
#include <lttng/snapshot.h>
#include <lttng/tracker.h>
#include <lttng/trigger/trigger.h>
#include <lttng/userspace-probe.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lttng_calibrate_type {
	LTTNG_CALIBRATE_FUNCTION = 0,
};

enum lttng_mi_output_type { LTTNG_MI_XML = 1 };

/* Obsolete in LTTng, too: returns -LTTNG_ERR_UND. */
struct lttng_calibrate {
	enum lttng_calibrate_type type;
	char padding[16];
};

/* Return 1 if a session daemon answers, else 0. */
int lttng_session_daemon_alive(void);

/* Choose the group whose members may ask root's daemon; by default "tracing". */
int lttng_set_tracing_group(const char *name);

/* There are no other consumers: returns -LTTNG_ERR_UND. */
int lttng_register_consumer(struct lttng_handle *handle, const char *socket_path);

/*
 * Let a session record, or stop. What was recorded can be read when stopping returns, also
 * without waiting.
 */
int lttng_start_tracing(const char *session_name);

int lttng_stop_tracing(const char *session_name);

int lttng_stop_tracing_no_wait(const char *session_name);

int lttng_calibrate(struct lttng_handle *handle, struct lttng_calibrate *calibrate);

/* Needs a network: returns -LTTNG_ERR_NOT_SUPPORTED. */
int lttng_set_consumer_url(struct lttng_handle *handle, const char *control_url,
			   const char *data_url);

/* Return 1 while data of a stopped session is to be written, else 0. */
int lttng_data_pending(const char *session_name);

/* Write the metadata, or the state of processes, of an active session once more. */
LTTNG_DEPRECATED("lttng_regenerate_metadata()")
int lttng_metadata_regenerate(const char *session_name);

int lttng_regenerate_metadata(const char *session_name);

int lttng_regenerate_statedump(const char *session_name);

#ifdef __cplusplus
}
#endif

#endif
