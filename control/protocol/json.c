/*
 * Reads JSON: see json.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is deeper is no answer of a daemon: each level is a call. */
#define MOST_LEVELS 64
/* 160 MiB of memory: far above what a line of a daemon has. */
#define MOST_VALUES (4u << 20)

struct reader {
	char *at;
	char *end;
	struct json *values;
	uint32_t count;
	uint32_t room;
	unsigned int level;
};

static bool read_value(struct reader *reader, const char *name);

static void skip_space(struct reader *reader)
{
	while (reader->at < reader->end && strchr(" \t\r\n", *reader->at) && *reader->at)
		reader->at++;
}

/* Take a character if it is the next one. */
static bool take(struct reader *reader, char character)
{
	skip_space(reader);
	if (reader->at == reader->end || *reader->at != character)
		return false;
	reader->at++;
	return true;
}

static bool take_word(struct reader *reader, const char *word)
{
	const size_t length = strlen(word);

	if ((size_t) (reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0)
		return false;
	reader->at += length;
	return true;
}

/* Make room for a value; return its number, or the largest number if there is none. */
static uint32_t add_value(struct reader *reader, enum json_type type, const char *name)
{
	struct json *value;

	if (reader->count == reader->room) {
		const uint32_t room = reader->room ? 2 * reader->room : 64;
		struct json *larger;

		if (room > MOST_VALUES)
			return UINT32_MAX;
		larger = reallocarray(reader->values, room, sizeof(*larger));
		if (!larger)
			return UINT32_MAX;
		reader->values = larger;
		reader->room = room;
	}
	value = &reader->values[reader->count];
	memset(value, 0, sizeof(*value));
	value->type = type;
	value->span = 1;
	value->name = name;
	return reader->count++;
}

static int hex_digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'a' && character <= 'f')
		return character - 'a' + 10;
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

/* Read four hexadecimal digits; return -1 if they are none. */
static int32_t read_unit(struct reader *reader)
{
	int32_t unit = 0;

	if (reader->end - reader->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		const int digit = hex_digit(*reader->at++);

		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* Write a character as UTF-8; it never needs more than its escape did. */
static char *put_character(char *target, uint32_t character)
{
	if (character < 0x80) {
		*target++ = (char) character;
	} else if (character < 0x800) {
		*target++ = (char) (0xc0 | character >> 6);
		*target++ = (char) (0x80 | (character & 0x3f));
	} else if (character < 0x10000) {
		*target++ = (char) (0xe0 | character >> 12);
		*target++ = (char) (0x80 | (character >> 6 & 0x3f));
		*target++ = (char) (0x80 | (character & 0x3f));
	} else {
		*target++ = (char) (0xf0 | character >> 18);
		*target++ = (char) (0x80 | (character >> 12 & 0x3f));
		*target++ = (char) (0x80 | (character >> 6 & 0x3f));
		*target++ = (char) (0x80 | (character & 0x3f));
	}
	return target;
}

/* Read what follows "\u"; return where the text goes on, NULL if it is none. */
static char *read_escaped_unit(struct reader *reader, char *target)
{
	const int32_t unit = read_unit(reader);

	/* C has no texts with a zero in them. */
	if (unit <= 0)
		return NULL;
	/* A byte that is no UTF-8, as Python writes it. */
	if (unit >= 0xdc80 && unit <= 0xdcff) {
		*target++ = (char) (unit - 0xdc00);
		return target;
	}
	if (unit >= 0xd800 && unit <= 0xdbff) {
		int32_t second;

		if (!take_word(reader, "\\u"))
			return NULL;
		second = read_unit(reader);
		if (second < 0xdc00 || second > 0xdfff)
			return NULL;
		return put_character(
			target,
			0x10000u +
				((uint32_t) (unit & 0x3ff) << 10 | (uint32_t) (second & 0x3ff)));
	}
	return put_character(target, (uint32_t) unit);
}

static char *read_escape(struct reader *reader, char *target)
{
	static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char character;

	if (reader->at == reader->end)
		return NULL;
	character = *reader->at++;
	if (character == 'u')
		return read_escaped_unit(reader, target);
	found = character ? strchr(escapes, character) : NULL;
	if (!found)
		return NULL;
	*target++ = meant[found - escapes];
	return target;
}

/* Read a text where it is, after its first quote; return NULL if it has no end. */
static const char *read_text(struct reader *reader)
{
	char *const begin = reader->at;
	char *target = begin;

	while (reader->at < reader->end && target) {
		const char character = *reader->at++;

		if (character == '"') {
			*target = '\0';
			return begin;
		}
		if ((unsigned char) character < ' ')
			return NULL;
		if (character == '\\')
			target = read_escape(reader, target);
		else
			*target++ = character;
	}
	return NULL;
}

/* Read digits as a whole number; return false if there are none, or too many. */
static bool read_whole(const char *text, const char *end, uint64_t *number)
{
	*number = 0;
	if (text == end)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(*number, 10u, number) ||
		    __builtin_add_overflow(*number, (uint64_t) (*text - '0'), number))
			return false;
	}
	return true;
}

/* Read a number with a point, whatever the program's locale writes there. */
static bool read_real(const char *text, size_t length, double *number)
{
	char copy[64], *end;
	locale_t plain;

	if (length == 0 || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
	if (!plain)
		return false;
	*number = strtod_l(copy, &end, plain);
	freelocale(plain);
	return *end == '\0';
}

static bool read_number(struct reader *reader, const char *name)
{
	const char *const begin = reader->at;
	const bool is_negative = *begin == '-';
	struct json number = {.type = JSON_REAL, .span = 1, .name = name};
	uint32_t index;
	uint64_t whole;

	while (reader->at < reader->end && *reader->at && strchr("+-.0123456789eE", *reader->at))
		reader->at++;
	if (read_whole(begin + is_negative, reader->at, &whole)) {
		if (whole <= INT64_MAX) {
			number.type = JSON_INTEGER;
			number.integer = is_negative ? -(int64_t) whole : (int64_t) whole;
		} else if (!is_negative) {
			number.type = JSON_UNSIGNED;
			number.whole = whole;
		} else if (whole == (uint64_t) INT64_MAX + 1) {
			number.type = JSON_INTEGER;
			number.integer = INT64_MIN;
		} else {
			number.real = -(double) whole;
		}
	} else if (!read_real(begin, (size_t) (reader->at - begin), &number.real)) {
		return false;
	}
	index = add_value(reader, number.type, name);
	if (index == UINT32_MAX)
		return false;
	reader->values[index] = number;
	return true;
}

/* Read the name of a member, and what is between it and its value. */
static const char *read_name(struct reader *reader)
{
	const char *const name = take(reader, '"') ? read_text(reader) : NULL;

	return name && take(reader, ':') ? name : NULL;
}

/* Read what is in a list or an object, after its first bracket. */
static bool read_inside(struct reader *reader, uint32_t index, bool has_names)
{
	const char end = has_names ? '}' : ']';
	uint32_t count = 0, last;

	if (take(reader, end))
		return true;
	do {
		const char *const name = has_names ? read_name(reader) : NULL;

		last = reader->count;
		if ((has_names && !name) || !read_value(reader, name))
			return false;
		count++;
	} while (take(reader, ','));
	reader->values[last].is_last = true;
	reader->values[index].count = count;
	reader->values[index].span = reader->count - index;
	return take(reader, end);
}

static bool read_container(struct reader *reader, enum json_type type, const char *name)
{
	const uint32_t index = add_value(reader, type, name);
	bool is_read;

	if (index == UINT32_MAX || reader->level == MOST_LEVELS)
		return false;
	reader->at++;
	reader->level++;
	is_read = read_inside(reader, index, type == JSON_OBJECT);
	reader->level--;
	return is_read;
}

/* Read a word that stands for a value. */
static bool read_word(struct reader *reader, const char *name)
{
	static const struct {
		const char *word;
		enum json_type type;
		double real;
	} words[] = {
		{"null", JSON_NULL, 0},
		{"false", JSON_FALSE, 0},
		{"true", JSON_TRUE, 0},
		/* As Python writes them. */
		{"NaN", JSON_REAL, (double) NAN},
		{"Infinity", JSON_REAL, (double) INFINITY},
		{"-Infinity", JSON_REAL, -(double) INFINITY},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		uint32_t index;

		if (!take_word(reader, words[i].word))
			continue;
		index = add_value(reader, words[i].type, name);
		if (index == UINT32_MAX)
			return false;
		reader->values[index].real = words[i].real;
		return true;
	}
	return false;
}

static bool read_value(struct reader *reader, const char *name)
{
	uint32_t index;
	const char *text;

	skip_space(reader);
	if (reader->at == reader->end)
		return false;
	switch (*reader->at) {
	case '{':
		return read_container(reader, JSON_OBJECT, name);
	case '[':
		return read_container(reader, JSON_LIST, name);
	case '"':
		reader->at++;
		text = read_text(reader);
		index = text ? add_value(reader, JSON_TEXT, name) : UINT32_MAX;
		if (index == UINT32_MAX)
			return false;
		reader->values[index].text = text;
		return true;
	default:
		return read_word(reader, name) || read_number(reader, name);
	}
}

struct json *control_read_json(char *line, size_t length)
{
	struct reader reader = {.at = line, .end = line + length};

	if (read_value(&reader, NULL)) {
		skip_space(&reader);
		if (reader.at == reader.end)
			return reader.values;
	}
	free(reader.values);
	return NULL;
}

uint32_t control_count(const struct json *value)
{
	return value ? value->count : 0;
}

const struct json *control_member(const struct json *object, const char *name)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	for (CONTROL_EACH(one, object)) {
		if (strcmp(one->name, name) == 0)
			return one;
	}
	return NULL;
}

const struct json *control_element(const struct json *list, uint64_t index)
{
	for (CONTROL_EACH(one, list)) {
		if (index-- == 0)
			return one;
	}
	return NULL;
}

const char *control_text_member(const struct json *object, const char *name)
{
	const struct json *found = control_member(object, name);

	return found && found->type == JSON_TEXT ? found->text : NULL;
}

int64_t control_integer_member(const struct json *object, const char *name, int64_t otherwise)
{
	const struct json *found = control_member(object, name);

	return found && found->type == JSON_INTEGER ? found->integer : otherwise;
}

uint64_t control_whole_member(const struct json *object, const char *name)
{
	const struct json *found = control_member(object, name);

	if (found && found->type == JSON_UNSIGNED)
		return found->whole;
	if (found && found->type == JSON_INTEGER && found->integer > 0)
		return (uint64_t) found->integer;
	return 0;
}

double control_real_member(const struct json *object, const char *name)
{
	const struct json *found = control_member(object, name);

	if (!found)
		return 0;
	if (found->type == JSON_INTEGER)
		return (double) found->integer;
	if (found->type == JSON_UNSIGNED)
		return (double) found->whole;
	return found->type == JSON_REAL ? found->real : 0;
}

bool control_flag_member(const struct json *object, const char *name)
{
	const struct json *found = control_member(object, name);

	return found && found->type == JSON_TRUE;
}
