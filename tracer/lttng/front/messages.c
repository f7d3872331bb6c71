/*
 * lttng_ust_tracef() and lttng_ust_tracelog() of programs that were compiled with LTTng-UST's
 * headers: their macros call functions of the library. The events are those of Vestige's own
 * headers, whose probes are in the tracer.
 */
#define _GNU_SOURCE
#include <lttng/tracef.h>
#include <lttng/tracelog.h>
#include <stdarg.h>
#include <vestige/write-fields.h>

#include "../../base/compiler.h"
#include "../interface.h"

#define MOST_FIELDS 4

extern const struct vestige_lttng vestige_lttng __attribute__((weak));

static const struct vestige_tracer *tracer;

VESTIGE_AT_LOAD static void find_tracer(void)
{
	tracer = vestige_find_tracer();
}

/* A record that is described by its fields, which have no other kinds. */
static size_t measure(const struct vestige_event_class *class, const struct vestige_value *values)
{
	size_t size = 0;

	for (uint32_t index = 0; index < class->field_count; index++) {
		const struct vestige_field *field = &class->fields[index];

		if (field->kind == VESTIGE_INTEGER)
			size += sizeof(int);
		else if (field->kind == VESTIGE_STRING)
			size += values[index].length + 1;
		else
			size += sizeof(unsigned int) + values[index].length;
	}
	return size;
}

static char *write_value(char *at, const struct vestige_field *field,
			 const struct vestige_value *value)
{
	const unsigned int length = (unsigned int) value->length;
	const int integer = (int) value->as.integer;

	if (field->kind == VESTIGE_INTEGER) {
		memcpy(at, &integer, sizeof(integer));
		return at + sizeof(integer);
	}
	if (field->kind == VESTIGE_STRING)
		return vestige_write_text(at, value->as.bytes, value->length);
	memcpy(at, &length, sizeof(length));
	memcpy(at + sizeof(length), value->as.bytes, length);
	return at + sizeof(length) + length;
}

static void record(const struct vestige_tracepoint *point, const struct vestige_value *values,
		   const void *behind)
{
	const struct vestige_event *event = point->event;
	/* In the call, not behind it: that may be another line. */
	const void *ip = (const char *) behind - 1;
	struct vestige_record made;
	char *at;

	if (!tracer || !event || event->event_class->field_count > MOST_FIELDS ||
	    (event->filter && !tracer->passes(event, values, ip)) ||
	    !tracer->begin(event, &made, measure(event->event_class, values), ip))
		return;
	at = made.at;
	for (uint32_t index = 0; index < event->event_class->field_count; index++)
		at = write_value(at, &event->event_class->fields[index], &values[index]);
	tracer->commit(&made);
}

static struct vestige_value text_value(const char *text)
{
	return (struct vestige_value) {.as.bytes = text, .length = text ? strlen(text) : 6};
}

static __attribute__((format(printf, 2, 0))) void
record_message(const struct vestige_tracepoint *point, const char *format, va_list arguments,
	       const void *behind)
{
	struct vestige_message message;

	if (!point->state)
		return;
	vestige_message_list(&message, format, arguments);
	if (!message.text)
		return;
	record(point,
	       &(struct vestige_value) {.as.bytes = message.text, .length = message.length},
	       behind);
	vestige_message_end(&message);
}

static __attribute__((format(printf, 5, 0))) void
record_log(const struct vestige_tracepoint *point, const char *file, int line,
	   const char *function, const char *format, va_list arguments, const void *behind)
{
	struct vestige_message message;

	if (!point->state)
		return;
	vestige_message_list(&message, format, arguments);
	if (!message.text)
		return;
	record(point,
	       (struct vestige_value[MOST_FIELDS]) {
		       {.as.integer = line, .length = 1},
		       text_value(file),
		       text_value(function),
		       {.as.bytes = message.text, .length = message.length},
	       },
	       behind);
	vestige_message_end(&message);
}

/* What a macro looks at before it calls; a program that is not position-independent has it in
 * its own memory. A program may also have points of its own in their place. */
#define POINT(provider_, name_)                                                    \
	extern struct ust_point lttng_ust_tracepoint_##provider_##___##name_;      \
	EXPORTED struct ust_point lttng_ust_tracepoint_##provider_##___##name_ = { \
		.struct_size = sizeof(struct ust_point),                           \
		.provider = #provider_,                                            \
		.name = #name_,                                                    \
		.signature = "",                                                   \
	};

POINT(lttng_ust_tracef, event)
#define LOG_POINT(level) POINT(lttng_ust_tracelog, level)
VESTIGE_LOG_LEVELS(LOG_POINT)

static struct ust_point *const points[] = {&lttng_ust_tracepoint_lttng_ust_tracef___event,
#define LOG_PLACE(level) &lttng_ust_tracepoint_lttng_ust_tracelog___##level,
					   VESTIGE_LOG_LEVELS(LOG_PLACE)};

static __attribute__((constructor)) void add_points(void)
{
	if (&vestige_lttng)
		vestige_lttng.add_points(points, sizeof(points) / sizeof(points[0]));
}

static __attribute__((destructor)) void remove_points(void)
{
	if (&vestige_lttng)
		vestige_lttng.remove_points(points);
}

EXPORTED __attribute__((format(printf, 1, 2))) void lttng_ust__tracef(const char *format, ...);
EXPORTED __attribute__((format(printf, 1, 0))) void lttng_ust__vtracef(const char *format,
								       va_list arguments);

void lttng_ust__tracef(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	record_message(&VESTIGE_POINT(lttng_ust_tracef, event), format, arguments,
		       __builtin_return_address(0));
	va_end(arguments);
}

void lttng_ust__vtracef(const char *format, va_list arguments)
{
	record_message(&VESTIGE_POINT(lttng_ust_tracef, event), format, arguments,
		       __builtin_return_address(0));
}

#define LOG(level)                                                                          \
	EXPORTED __attribute__((format(printf, 4, 5))) void lttng_ust__tracelog_##level(    \
		const char *file, int line, const char *function, const char *format, ...); \
	EXPORTED __attribute__((format(printf, 4, 0))) void lttng_ust__vtracelog_##level(   \
		const char *file, int line, const char *function, const char *format,       \
		va_list arguments);                                                         \
	void lttng_ust__tracelog_##level(const char *file, int line, const char *function,  \
					 const char *format, ...)                           \
	{                                                                                   \
		va_list arguments;                                                          \
                                                                                            \
		va_start(arguments, format);                                                \
		record_log(&VESTIGE_POINT(lttng_ust_tracelog, level), file, line, function, \
			   format, arguments, __builtin_return_address(0));                 \
		va_end(arguments);                                                          \
	}                                                                                   \
	void lttng_ust__vtracelog_##level(const char *file, int line, const char *function, \
					  const char *format, va_list arguments)            \
	{                                                                                   \
		record_log(&VESTIGE_POINT(lttng_ust_tracelog, level), file, line, function, \
			   format, arguments, __builtin_return_address(0));                 \
	}

VESTIGE_LOG_LEVELS(LOG)
