/*
 * lttng_ust_tracef(): a message as printf(3) has it, as event lttng_ust_tracef:event. See
 * lttng_ust_tracef(3).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_TRACEF_H
#define VESTIGE_LTTNG_TRACEF_H

#include <vestige/format-message.h>

VESTIGE_BEGIN_C
VESTIGE_WEAK_POINT(lttng_ust_tracef, event)
VESTIGE_END_C
VESTIGE_CALL(lttng_ust_tracef, event, const char *message VESTIGE_COMMA unsigned int length,
	     const struct vestige_event * VESTIGE_COMMA const char * VESTIGE_COMMA unsigned int,
	     vestige_event_ VESTIGE_COMMA message VESTIGE_COMMA length)

#define lttng_ust_tracef(...)							\
	do {									\
		if (lttng_ust_tracepoint_enabled(lttng_ust_tracef, event)) {	\
			struct vestige_message vestige_message_;		\
										\
			vestige_message_begin(&vestige_message_, __VA_ARGS__);	\
			if (vestige_message_.text)				\
				vestige_call_lttng_ust_tracef___event(		\
					vestige_message_.text,			\
					vestige_message_.length);		\
			vestige_message_end(&vestige_message_);			\
		}								\
	} while (0)

#define lttng_ust_vtracef(format, arguments)						\
	do {										\
		if (lttng_ust_tracepoint_enabled(lttng_ust_tracef, event)) {		\
			struct vestige_message vestige_message_;			\
											\
			vestige_message_list(&vestige_message_, format, arguments);	\
			if (vestige_message_.text)					\
				vestige_call_lttng_ust_tracef___event(			\
					vestige_message_.text,				\
					vestige_message_.length);			\
			vestige_message_end(&vestige_message_);				\
		}									\
	} while (0)

#if LTTNG_UST_COMPAT_API(0)
#define tracef		lttng_ust_tracef
#define vtracef		lttng_ust_vtracef
#endif

#endif
