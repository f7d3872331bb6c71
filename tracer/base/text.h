/* Text that grows in memory of its own, up to a size: no allocator is involved. */
#ifndef VESTIGE_BASE_TEXT_H
#define VESTIGE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "compiler.h"

struct text {
	char *start;
	char *at;
	char *end;
	/* Something found no room. */
	bool is_full;
};

bool text_open(struct text *text, size_t most) HIDDEN;
void text_close(struct text *text) HIDDEN;
void text_append(struct text *text, const char *bytes, size_t size) HIDDEN;
void text_format(struct text *text, const char *format, ...) HIDDEN
	__attribute__((format(printf, 2, 3)));
/* Bytes of the character of UTF-8 with which a string begins that is not empty; 0 if there is none. */
size_t text_character_size(const char *string) HIDDEN;
/* A string of TSDL, in quotation marks; what is no UTF-8 becomes question marks. */
void text_quote(struct text *text, const char *string) HIDDEN;

static inline size_t text_size(const struct text *text)
{
	return (size_t) (text->at - text->start);
}

#endif
