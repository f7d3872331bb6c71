/*
 * Contexts of the program: `$app.PROVIDER:TYPE`, in filters and in records.
 *
 * A filter or a recording names one before anybody has it, so names have numbers of their own.
 * Who has it comes and goes while the program runs; what it is, each event is told anew.
 */
#ifndef VESTIGE_STREAM_APPLICATION_H
#define VESTIGE_STREAM_APPLICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"

/* What a context is at an event. */
struct application_value {
	enum application_type type;
	union {
		/* Of all integers. */
		int64_t integer;
		/* Of both reals. */
		double real;
		const char *text;
	} as;
};

/* Called with the context's name, with its prefix, and a value that is none. */
typedef void application_function(const void *data, const char *name,
				  struct application_value *value);

/* Who has contexts. */
struct application_source {
	/* With the prefix: of one context, or of all that have a colon after it. */
	const char *name;
	application_function *get;
	const void *data;
};

/* The number of a name with its prefix; negative when it is none, or there are too many.
 * Not for two threads at once, nor are those that follow. */
int application_find(const char *name, size_t length) HIDDEN;
/* Add a source, which stays where it is; false when there is no room, or another one of the
 * name. */
bool application_add(const struct application_source *source) HIDDEN;
/* Take one away; false when it is not there. Others may be in its function until
 * application_is_left() says that none is that has no data stream, and passage_wait() that none
 * else is. */
bool application_remove(const struct application_source *source) HIDDEN;
bool application_is_left(void) HIDDEN;

/* What is asked for in between stays as it is: no source is unloaded. */
void application_enter(void) HIDDEN;
void application_leave(void) HIDDEN;
/* Ask for a value; false when there is none, as in functions that are called for that. */
bool application_ask(unsigned int number, struct application_value *value) HIDDEN;

/* What is recorded of one event. */
struct application_values {
	struct application_value values[MOST_APPLICATION_CONTEXTS];
	/* Of strings. */
	size_t lengths[MOST_APPLICATION_CONTEXTS];
};

struct context_list;

/* Ask for all of a list, or say that there are none; returns the bytes of that. */
size_t application_ask_all(const struct context_list *list, struct application_values *values,
			   bool is_asked) HIDDEN;
void application_write(const struct context_list *list, char *at,
		       const struct application_values *values) HIDDEN;
/* Where what was written ends. */
char *application_skip(const struct context_list *list, char *at) HIDDEN;

#endif
