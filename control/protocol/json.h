/*
 * Reads what a daemon says, a line of JSON, which is not trusted.
 *
 * A line becomes an array of values in the order of the text, each followed by what is in it.
 * Texts stay where they were in the line, which is changed for that.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_JSON_H
#define VESTIGE_CONTROL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_INTEGER,
	/* A whole number above all that are signed. */
	JSON_UNSIGNED,
	JSON_REAL,
	JSON_TEXT,
	JSON_LIST,
	JSON_OBJECT,
};

struct json {
	enum json_type type;
	/* How many values it takes in the array: itself, and all that is in it. */
	uint32_t span;
	/* Elements of a list, members of an object. */
	uint32_t count;
	/* Whether no other one follows in its list or object. */
	bool is_last;
	/* As a member of an object; else NULL. */
	const char *name;
	union {
		const char *text;
		int64_t integer;
		uint64_t whole;
		double real;
	};
};

/* Return the values of a line, to be freed; NULL if it is no JSON or there is no memory. */
struct json *control_read_json(char *line, size_t length);

/* Return a member of an object; NULL if there is none, or this is no object. */
const struct json *control_member(const struct json *object, const char *name);

/* Return a member that is a text, else NULL. */
const char *control_text_member(const struct json *object, const char *name);

/* Return a member that is a whole number that fits, else what is meant otherwise. */
int64_t control_integer_member(const struct json *object, const char *name, int64_t otherwise);

/* Return a member that is a whole number and not negative, else 0. */
uint64_t control_whole_member(const struct json *object, const char *name);

/* Return a member that is a number, else 0. */
double control_real_member(const struct json *object, const char *name);

/* Tell whether a member is there and is true. */
bool control_flag_member(const struct json *object, const char *name);

/* Return the number of elements or members; 0 of what has none. */
uint32_t control_count(const struct json *value);

/* Return an element of a list by its number, NULL if there is none. */
const struct json *control_element(const struct json *list, uint64_t index);

/* Return the first element or member, NULL if there is none. */
static inline const struct json *control_first(const struct json *value)
{
	return value && value->count ? value + 1 : NULL;
}

/* Return the element or member after another one, NULL if it is the last. */
static inline const struct json *control_next(const struct json *value)
{
	return value->is_last ? NULL : value + value->span;
}

/* What is in a for statement for each element of a list, or each member of an object. */
#define CONTROL_EACH(one, list)                       \
	const struct json *one = control_first(list); \
	one;                                          \
	one = control_next(one)

#endif
