/*
 * Writes texts of all lengths from 0 to 300, to and from all places in a line of the cache. Each is
 * written as it is, and once for each place where another thread has put a zero into it since it was
 * measured: from there on, that is filled up. Nothing else is written to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/tracepoint.h>

#include <vestige/write-fields.h>

#define MOST 300u
#define PLACES 64u
#define BEFORE 0x7e

static char text[MOST + PLACES + 1];
static char memory[MOST + 3 * PLACES];

static void expect(int is_true, size_t length, size_t place, size_t zero)
{
	if (is_true)
		return;
	fprintf(stderr, "length %zu, place %zu, zero at %zu\n", length, place, zero);
	exit(1);
}

static int is_untouched(const char *from, const char *to)
{
	for (; from < to; from++)
		if (*from != BEFORE)
			return 0;
	return 1;
}

/* A zero at the end of the text is its own. */
static void write_one(const char *source, size_t length, size_t place, size_t zero)
{
	char *at = memory + PLACES + place;
	const char *end;

	memset(memory, BEFORE, sizeof(memory));
	end = vestige_write_text(at, source, length);
	expect(end == at + length + 1 && !*(end - 1), length, place, zero);
	expect(!memcmp(at, source, zero), length, place, zero);
	for (size_t index = zero; index < length; index++)
		expect(at[index] == '#', length, place, zero);
	expect(is_untouched(memory, at) && is_untouched(end, memory + sizeof(memory)), length,
	       place, zero);
}

/* Each byte is another one than those beside it, and some have the highest bit. */
static char byte_at(size_t index)
{
	return (char) (1 + index % 251);
}

static void write_all(size_t length, size_t place)
{
	/* Both are at all places in a wide word, in turn. */
	char *source = text + (length + place / 16) % 16;

	for (size_t index = 0; index < length; index++)
		source[index] = byte_at(index);
	source[length] = 0;
	write_one(source, length, place, length);
	for (size_t zero = 0; zero < length; zero++) {
		source[zero] = 0;
		write_one(source, length, place, zero);
		source[zero] = byte_at(zero);
	}
}

int main(void)
{
	for (size_t length = 0; length <= MOST; length++)
		for (size_t place = 0; place < PLACES; place += length < 100 ? 1 : 5)
			write_all(length, place);
	return 0;
}
