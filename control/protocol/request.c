/*
 * Writes requests: see request.h.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "request.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct request *request, size_t more)
{
	size_t room = request->room ? request->room : 256;
	char *larger;

	if (request->has_failed)
		return false;
	if (request->room - request->length > more)
		return true;
	while (room - request->length <= more) {
		if (__builtin_mul_overflow(room, 2u, &room)) {
			request->has_failed = true;
			return false;
		}
	}
	larger = realloc(request->bytes, room);
	if (!larger) {
		request->has_failed = true;
		return false;
	}
	request->bytes = larger;
	request->room = room;
	return true;
}

static void put(struct request *request, const char *bytes, size_t length)
{
	if (!reserve(request, length))
		return;
	memcpy(request->bytes + request->length, bytes, length);
	request->length += length;
	request->bytes[request->length] = '\0';
}

static void put_word(struct request *request, const char *word)
{
	put(request, word, strlen(word));
}

/* Return how many bytes of a character in UTF-8 are there; 0 if it is none. */
static size_t character_length(const unsigned char *text)
{
	uint32_t character;
	size_t length;

	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
	character = text[0] & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (text[i] & 0x3fu);
	}
	if ((length == 3 && character < 0x800) || (length == 4 && character < 0x10000) ||
	    (character >= 0xd800 && character <= 0xdfff) || character > 0x10ffff)
		return 0;
	return length;
}

static void put_text(struct request *request, const char *text)
{
	const unsigned char *at = (const unsigned char *) text;

	put(request, "\"", 1);
	while (*at) {
		char escape[8];
		size_t length = 1;

		if (*at == '"' || *at == '\\') {
			put(request, "\\", 1);
			put(request, (const char *) at, 1);
		} else if (*at >= ' ' && *at < 0x80) {
			while (at[length] >= ' ' && at[length] < 0x80 && at[length] != '"' &&
			       at[length] != '\\')
				length++;
			put(request, (const char *) at, length);
		} else if ((length = character_length(at))) {
			put(request, (const char *) at, length);
		} else {
			/* Bytes that are no UTF-8 become what Python makes of them in paths. */
			length = 1;
			snprintf(escape, sizeof(escape), "\\u%s%02x", *at < ' ' ? "00" : "dc",
				 *at);
			put(request, escape, 6);
		}
		at += length;
	}
	put(request, "\"", 1);
}

/* Write what is before a value. */
static void put_name(struct request *request, const char *name)
{
	if (request->follows)
		put(request, ",", 1);
	request->follows = true;
	if (name) {
		put_text(request, name);
		put(request, ":", 1);
	}
}

void control_write_text(struct request *request, const char *name, const char *text)
{
	put_name(request, name);
	if (text)
		put_text(request, text);
	else
		put_word(request, "null");
}

void control_write_integer(struct request *request, const char *name, int64_t number)
{
	char text[32];

	put_name(request, name);
	snprintf(text, sizeof(text), "%" PRId64, number);
	put_word(request, text);
}

void control_write_whole(struct request *request, const char *name, uint64_t number)
{
	char text[32];

	put_name(request, name);
	snprintf(text, sizeof(text), "%" PRIu64, number);
	put_word(request, text);
}

void control_write_real(struct request *request, const char *name, double number)
{
	const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t) 0);
	locale_t before;
	char text[48];

	put_name(request, name);
	if (!plain) {
		request->has_failed = true;
		return;
	}
	/* Whatever the program's locale has in place of the point. */
	before = uselocale(plain);
	snprintf(text, sizeof(text), "%.17g", number);
	uselocale(before);
	freelocale(plain);
	put_word(request, text);
}

void control_write_flag(struct request *request, const char *name, bool is_set)
{
	put_name(request, name);
	put_word(request, is_set ? "true" : "false");
}

static void begin(struct request *request, const char *name, const char *bracket)
{
	put_name(request, name);
	put(request, bracket, 1);
	request->follows = false;
}

static void end(struct request *request, const char *bracket)
{
	put(request, bracket, 1);
	request->follows = true;
}

void control_begin_object(struct request *request, const char *name)
{
	begin(request, name, "{");
}

void control_end_object(struct request *request)
{
	end(request, "}");
}

void control_begin_list(struct request *request, const char *name)
{
	begin(request, name, "[");
}

void control_end_list(struct request *request)
{
	end(request, "]");
}

void control_begin_request(struct request *request, const char *verb)
{
	memset(request, 0, sizeof(*request));
	control_begin_object(request, NULL);
	control_write_integer(request, "version", 1);
	/* Each request has a connection of its own, so any number will do. */
	control_write_integer(request, "number", 1);
	control_write_text(request, "verb", verb);
	control_begin_object(request, "values");
}

void control_end_request(struct request *request)
{
	control_end_object(request);
	control_end_object(request);
	put(request, "\n", 1);
}

void control_free_request(struct request *request)
{
	free(request->bytes);
	request->bytes = NULL;
}
