/*
 * The messages of lttng_ust_tracef() and lttng_ust_tracelog(): formatted where they are
 * called, so that the instruction pointer is that place.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_FORMAT_MESSAGE_H
#define VESTIGE_FORMAT_MESSAGE_H

#include <stdarg.h>

#include <lttng/tracepoint.h>

VESTIGE_BEGIN_C

struct vestige_message {
	/* NULL: the arguments are none that the format can have. */
	const char *text;
	unsigned int length;
	/* What was allocated for a text that is longer than the room here. */
	char *allocated;
	char room[256];
};

VESTIGE_INLINE void vestige_message_end(struct vestige_message *message)
{
	free(message->allocated);
}

static inline __attribute__((unused, format(printf, 2, 0))) VESTIGE_NOT_TRACED void
vestige_message_list(struct vestige_message *message, const char *format, va_list arguments)
{
	va_list again;
	int length;

	va_copy(again, arguments);
	message->allocated = (char *) 0;
	message->text = message->room;
	length = vsnprintf(message->room, sizeof(message->room), format, arguments);
	if (length >= (int) sizeof(message->room)) {
		message->allocated = (char *) malloc((size_t) length + 1);
		if (message->allocated)
			message->text = message->allocated;
		else
			length = (int) sizeof(message->room) - 1;
		if (message->allocated)
			vsnprintf(message->allocated, (size_t) length + 1, format, again);
	}
	va_end(again);
	if (length < 0)
		message->text = (const char *) 0;
	message->length = length > 0 ? (unsigned int) length : 0;
}

static inline __attribute__((unused, format(printf, 2, 3))) VESTIGE_NOT_TRACED void
vestige_message_begin(struct vestige_message *message, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vestige_message_list(message, format, arguments);
	va_end(arguments);
}

/*
 * Each object that calls has a tracepoint of its own, since none is bound to link with the
 * tracer: weak, so that all of its source files share it.
 */
#define VESTIGE_WEAK_POINT(provider_, name_)						\
	struct vestige_tracepoint VESTIGE_POINT(provider_, name_)			\
		__attribute__((weak, visibility("hidden"))) = {				\
			sizeof(struct vestige_tracepoint), 0, #provider_, #name_,	\
			(void (*)(void)) 0, (const struct vestige_event *) 0,		\
			(struct vestige_tracepoint *) 0,				\
		};									\
	VESTIGE_REGISTER_POINT(provider_, name_)					\
	VESTIGE_LISTED(point_##provider_##___##name_, "point\t" #provider_ "\t" #name_)

VESTIGE_END_C

#endif
