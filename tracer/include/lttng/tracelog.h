/*
 * lttng_ust_tracelog(): a message with a log level and its place in the source. There is an
 * event for each level, lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_..., since the level
 * of an event is fixed. See lttng_ust_tracelog(3).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_TRACELOG_H
#define VESTIGE_LTTNG_TRACELOG_H

#include <vestige/format-message.h>
#include <vestige/log-levels.h>

#define VESTIGE_LOG_POINT(level)							\
	VESTIGE_BEGIN_C									\
	VESTIGE_WEAK_POINT(lttng_ust_tracelog, level)					\
	VESTIGE_END_C									\
	VESTIGE_CALL(lttng_ust_tracelog, level,						\
		     const char *file VESTIGE_COMMA int line VESTIGE_COMMA		\
		     const char *function VESTIGE_COMMA const char *message		\
		     VESTIGE_COMMA unsigned int length,					\
		     const struct vestige_event * VESTIGE_COMMA const char *		\
		     VESTIGE_COMMA int VESTIGE_COMMA const char * VESTIGE_COMMA		\
		     const char * VESTIGE_COMMA unsigned int,				\
		     vestige_event_ VESTIGE_COMMA file VESTIGE_COMMA line VESTIGE_COMMA	\
		     function VESTIGE_COMMA message VESTIGE_COMMA length)
VESTIGE_LOG_LEVELS(VESTIGE_LOG_POINT)

#define VESTIGE_LOG_MESSAGE(level, fill)						\
	do {										\
		if (lttng_ust_tracepoint_enabled(lttng_ust_tracelog, level)) {		\
			struct vestige_message vestige_message_;			\
											\
			fill;								\
			if (vestige_message_.text)					\
				vestige_call_lttng_ust_tracelog___##level(		\
					__FILE__, __LINE__, __func__,			\
					vestige_message_.text,				\
					vestige_message_.length);			\
			vestige_message_end(&vestige_message_);				\
		}									\
	} while (0)

#define lttng_ust_tracelog(level, ...) \
	VESTIGE_LOG_MESSAGE(level, vestige_message_begin(&vestige_message_, __VA_ARGS__))
#define lttng_ust_vtracelog(level, format, arguments) \
	VESTIGE_LOG_MESSAGE(level, vestige_message_list(&vestige_message_, format, arguments))

#if LTTNG_UST_COMPAT_API(0)
#define tracelog	lttng_ust_tracelog
#define vtracelog	lttng_ust_vtracelog
#endif

#endif
