#define _GNU_SOURCE
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
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

size_t text_character_size(const char *string)
{
	const uint8_t *at = (const uint8_t *) string;
	const uint8_t first = at[0];
	/* What the second byte may be: no character has two forms, and surrogates are none. */
	const uint8_t least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
	const uint8_t most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
	const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;

	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first > 0xf4 || at[1] < least || at[1] > most)
		return 0;
	for (size_t index = 2; index < size; index++)
		if ((at[index] & 0xc0) != 0x80)
			return 0;
	return size;
}

void text_quote(struct text *text, const char *string)
{
	text_append(text, "\"", 1);
	while (*string) {
		const size_t size = text_character_size(string);

		if (*string == '"' || *string == '\\')
			text_append(text, "\\", 1);
		if (*string == '\n')
			text_append(text, "\\n", 2);
		else
			text_append(text, size ? string : "?", size ? size : 1);
		string += size ? size : 1;
	}
	text_append(text, "\"", 1);
}
