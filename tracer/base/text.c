#define _GNU_SOURCE
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "system.h"

bool text_open(struct text *text, size_t most)
{
	/* Pages that are not written take no memory. */
	void *place = system_mmap(NULL, most, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (!place)
		return false;
	text->start = place;
	text->at = place;
	text->end = text->start + most;
	text->is_full = false;
	return true;
}

void text_close(struct text *text)
{
	system_munmap(text->start, (size_t) (text->end - text->start));
}

void text_append(struct text *text, const char *bytes, size_t size)
{
	if (size > (size_t) (text->end - text->at)) {
		text->is_full = true;
		return;
	}
	memcpy(text->at, bytes, size);
	text->at += size;
}

void text_format(struct text *text, const char *format, ...)
{
	const size_t room = (size_t) (text->end - text->at);
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text->at, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t) length >= room)
		text->is_full = true;
	else
		text->at += length;
}

void text_quote(struct text *text, const char *string)
{
	text_append(text, "\"", 1);
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			text_append(text, "\\", 1);
		if (*string == '\n')
			text_append(text, "\\n", 2);
		else
			text_append(text, string, 1);
	}
	text_append(text, "\"", 1);
}
