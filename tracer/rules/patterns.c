/* Reads the patterns that the recorder passes on, and compares names with them. */
#include "patterns.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct patterns patterns;
/* The patterns, each ended by a zero. */
static char text[PATTERN_TEXT_SIZE];
static size_t text_used;

static int digit(char character)
{
	if (character >= '0' && character <= '9')
		return character - '0';
	if (character >= 'A' && character <= 'F')
		return character - 'A' + 10;
	return -1;
}

/* Keep a text whose special characters are written as %XX; NULL when there is no room. */
static const char *keep(const char *from, size_t length)
{
	const char *end = from + length;
	const char *kept = text + text_used;

	while (from < end) {
		char character = *from++;

		if (character == '%') {
			if (end - from < 2 || digit(from[0]) < 0 || digit(from[1]) < 0)
				return NULL;
			character = (char) (digit(from[0]) << 4 | digit(from[1]));
			from += 2;
		}
		if (text_used + 2 > sizeof(text))
			return NULL;
		text[text_used++] = character;
	}
	if (text_used + 1 > sizeof(text))
		return NULL;
	text[text_used++] = '\0';
	return kept;
}

/* One is OBJECT:NAME, or OBJECT:=START-END with hexadecimal numbers. */
static bool parse_pattern(const char *word, size_t length, bool is_exclude)
{
	struct pattern *pattern = &patterns.all[patterns.count];
	const char *colon = memchr(word, ':', length);
	char *end;

	if (!colon || patterns.count == MOST_PATTERNS)
		return false;
	*pattern = (struct pattern) {.is_exclude = is_exclude};
	pattern->object = keep(word, (size_t) (colon - word));
	length -= (size_t) (colon + 1 - word);
	if (length && colon[1] == '=') {
		pattern->start = strtoull(colon + 2, &end, 16);
		if (*end != '-')
			return false;
		pattern->end = strtoull(end + 1, &end, 16);
	} else {
		pattern->name = keep(colon + 1, length);
		if (!pattern->name)
			return false;
	}
	if (!pattern->object)
		return false;
	patterns.count++;
	patterns.has_includes |= !is_exclude;
	return true;
}

bool patterns_parse(const char *list, size_t length, bool is_exclude)
{
	const char *end = list + length;

	while (list < end) {
		const char *comma = memchr(list, ',', (size_t) (end - list));
		const char *stop = comma ? comma : end;

		if (!parse_pattern(list, (size_t) (stop - list), is_exclude))
			return false;
		list = comma ? comma + 1 : end;
	}
	return true;
}

/* Compare a character with a set, `at` behind its bracket; NULL when the set has no end,
 * else what comes behind it. */
static const char *match_set(const char *at, char character, bool *matches)
{
	const bool is_negated = *at == '!';
	const char *first;
	bool is_in = false;

	if (is_negated)
		at++;
	first = at;
	while (*at && (*at != ']' || at == first)) {
		const unsigned char low = (unsigned char) *at++;
		unsigned char high = low;

		if (at[0] == '-' && at[1] && at[1] != ']') {
			high = (unsigned char) at[1];
			at += 2;
		}
		is_in |= (unsigned char) character >= low && (unsigned char) character <= high;
	}
	*matches = is_in != is_negated;
	return *at ? at + 1 : NULL;
}

/* Compare one character; NULL when it does not match, else the rest of the pattern. */
static const char *match_one(const char *pattern, char character)
{
	if (!*pattern || !character)
		return NULL;
	if (*pattern == '?')
		return pattern + 1;
	if (*pattern == '[') {
		bool matches = false;
		const char *rest = match_set(pattern + 1, character, &matches);

		if (rest)
			return matches ? rest : NULL;
	}
	return *pattern == character ? pattern + 1 : NULL;
}

bool glob_matches(const char *pattern, const char *name)
{
	/* Where to go on when the rest does not match: behind the last star. */
	const char *star = NULL;
	const char *retry = NULL;

	while (*name || *pattern) {
		const char *rest;

		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
			continue;
		}
		rest = match_one(pattern, *name);
		if (rest) {
			pattern = rest;
			name++;
			continue;
		}
		if (!star || !*retry)
			return false;
		pattern = star;
		name = ++retry;
	}
	return true;
}

bool pattern_applies(const struct pattern *pattern, const char *path, bool is_program)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *version;
	char unversioned[NAME_MAX + 1];

	if (!*pattern->object)
		return pattern->name || is_program;
	if (glob_matches(pattern->object, name) || glob_matches(pattern->object, path))
		return true;
	/* libx.so names libx.so.1.2, too. */
	version = strstr(name, ".so.");
	if (!version || (size_t) (version + 3 - name) >= sizeof(unversioned))
		return false;
	memcpy(unversioned, name, (size_t) (version + 3 - name));
	unversioned[version + 3 - name] = '\0';
	return glob_matches(pattern->object, unversioned);
}
