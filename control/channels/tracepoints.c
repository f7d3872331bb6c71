/*
 * What there is to record: tracepoints of registered programs with their fields, loggers, and
 * what the kernel has.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "domain_names.h"

/* Ask for the programs, and give the list of them. */
static int ask(const struct lttng_handle *handle, bool has_fields, struct answer *answer,
	       const struct json **programs)
{
	struct request request;
	int code;

	if (!control_domain_name(handle->domain.type))
		return -LTTNG_ERR_UNKNOWN_DOMAIN;
	if (handle->domain.type == LTTNG_DOMAIN_UST) {
		control_begin_request(&request, "programs");
		control_write_flag(&request, "fields", has_fields);
	} else {
		control_begin_request(&request, "loggers");
		control_write_text(&request, "domain", control_domain_name(handle->domain.type));
	}
	code = control_ask(&request, answer);
	if (!code)
		*programs = control_member(answer->value, "programs");
	return code;
}

/* Fill in what a tracepoint or, as a text, a logger has. */
static void fill(struct lttng_event *event, const struct json *program, const struct json *found)
{
	const char *const name =
		found->type == JSON_TEXT ? found->text : control_text_member(found, "name");

	event->type = LTTNG_EVENT_TRACEPOINT;
	control_copy(event->name, sizeof(event->name), name);
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_SINGLE;
	event->loglevel = (int) control_integer_member(found, "level", 0);
	event->enabled = -1;
	event->pid = (pid_t) control_integer_member(program, "pid", 0);
}

/* Give what the kernel can record; return how much that is, or an error code. */
static int list_kernel(bool are_calls, struct lttng_event **events)
{
	struct lttng_event *found, *next;
	const struct json *names;
	struct request request;
	struct answer answer;
	int code;

	control_begin_request(&request, "kernel-points");
	control_write_flag(&request, "calls", are_calls);
	code = control_ask(&request, &answer);
	if (code)
		return code;
	names = control_member(answer.value, "names");
	code = (int) control_count(names);
	found = calloc(code ? (size_t) code : 1, sizeof(*found));
	next = found;
	for (CONTROL_EACH(name, found ? names : NULL)) {
		next->type = are_calls ? LTTNG_EVENT_SYSCALL : LTTNG_EVENT_TRACEPOINT;
		next->flags = are_calls ? LTTNG_EVENT_FLAG_SYSCALL_64 : 0;
		next->enabled = -1;
		control_copy(next->name, sizeof(next->name),
			     name->type == JSON_TEXT ? name->text : NULL);
		next++;
	}
	control_free_answer(&answer);
	if (!found)
		return -LTTNG_ERR_NOMEM;
	*events = found;
	return code;
}

static const struct json *points_of(const struct json *program)
{
	const struct json *const events = control_member(program, "events");

	return events ? events : control_member(program, "loggers");
}

int lttng_list_tracepoints(struct lttng_handle *handle, struct lttng_event **events)
{
	const struct json *programs;
	struct lttng_event *found, *next;
	struct answer answer;
	size_t count = 0;
	int code;

	if (!handle || !events)
		return -LTTNG_ERR_INVALID;
	if (handle->domain.type == LTTNG_DOMAIN_KERNEL)
		return list_kernel(false, events);
	code = ask(handle, false, &answer, &programs);
	if (code)
		return code;
	for (CONTROL_EACH(program, programs))
		count += control_count(points_of(program));
	found = calloc(count ? count : 1, sizeof(*found));
	next = found;
	if (found) {
		for (CONTROL_EACH(program, programs)) {
			for (CONTROL_EACH(point, points_of(program)))
				fill(next++, program, point);
		}
		*events = found;
	}
	control_free_answer(&answer);
	return found ? (int) count : -LTTNG_ERR_NOMEM;
}

static enum lttng_event_field_type field_type(const char *name)
{
	static const char *const names[] = {
		[LTTNG_EVENT_FIELD_INTEGER] = "integer",
		[LTTNG_EVENT_FIELD_ENUM] = "enum",
		[LTTNG_EVENT_FIELD_FLOAT] = "float",
		[LTTNG_EVENT_FIELD_STRING] = "string",
	};

	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (name && names[i] && strcasecmp(name, names[i]) == 0)
			return (enum lttng_event_field_type) i;
	}
	return LTTNG_EVENT_FIELD_OTHER;
}

static void fill_field(struct lttng_event_field *field, const struct json *program,
		       const struct json *point, const struct json *found)
{
	control_copy(field->field_name, sizeof(field->field_name),
		     control_text_member(found, "name"));
	field->type = field_type(control_text_member(found, "type"));
	field->nowrite = control_flag_member(found, "nowrite");
	fill(&field->event, program, point);
}

/* Return how many fields there are; a tracepoint without one is listed with an empty one. */
static size_t count_fields(const struct json *programs)
{
	size_t count = 0;

	for (CONTROL_EACH(program, programs)) {
		for (CONTROL_EACH(point, points_of(program))) {
			const uint32_t fields = control_count(control_member(point, "fields"));

			count += fields ? fields : 1;
		}
	}
	return count;
}

static void fill_fields(struct lttng_event_field *next, const struct json *programs)
{
	for (CONTROL_EACH(program, programs)) {
		for (CONTROL_EACH(point, points_of(program))) {
			const struct json *const fields = control_member(point, "fields");

			for (CONTROL_EACH(field, fields))
				fill_field(next++, program, point, field);
			if (control_count(fields) == 0)
				fill_field(next++, program, point, NULL);
		}
	}
}

int lttng_list_tracepoint_fields(struct lttng_handle *handle, struct lttng_event_field **fields)
{
	const struct json *programs;
	struct lttng_event_field *found;
	struct answer answer;
	size_t count;
	int code;

	if (!handle || !fields)
		return -LTTNG_ERR_INVALID;
	if (handle->domain.type != LTTNG_DOMAIN_UST)
		return -LTTNG_ERR_UND;
	code = ask(handle, true, &answer, &programs);
	if (code)
		return code;
	count = count_fields(programs);
	found = calloc(count ? count : 1, sizeof(*found));
	if (found) {
		fill_fields(found, programs);
		*fields = found;
	}
	control_free_answer(&answer);
	return found ? (int) count : -LTTNG_ERR_NOMEM;
}

int lttng_list_syscalls(struct lttng_event **events)
{
	return events ? list_kernel(true, events) : -LTTNG_ERR_INVALID;
}
