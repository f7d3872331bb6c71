/* Values of events that matches tell: fields, elements of fields, and contexts. */
#ifndef VESTIGE_RULES_CAPTURES_H
#define VESTIGE_RULES_CAPTURES_H

#include <stddef.h>
#include <stdint.h>

#include "../agreement/registration.h"
#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

enum capture_source {
	/* There is no such value. */
	FROM_NOWHERE,
	FROM_FIELD,
	FROM_ELEMENT,
	FROM_CONTEXT,
	FROM_PROGRAM,
};

/* Where a value is, for the events of a class. */
struct capture {
	enum capture_source source;
	/* Of the field or the context. */
	uint32_t number;
	/* Of an element. */
	uint32_t index;
	const struct vestige_field *field;
};

/* Find a value by its name, which is no text; not for two threads at once. */
struct capture capture_find(const struct capture_head *head, const char *name,
			    const struct vestige_event_class *event_class) HIDDEN;
/* Write values in MessagePack, as programs of LTTng-UST do; what finds no room is none. Returns the
 * bytes. */
size_t captures_write(const struct capture *captures, uint32_t count,
		      const struct vestige_value *values, const void *ip, char *bytes,
		      size_t size) HIDDEN;

#endif
