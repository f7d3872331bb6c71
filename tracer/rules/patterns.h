/* The patterns that choose functions; docs/reference/record.md tells what they mean. */
#ifndef VESTIGE_RULES_PATTERNS_H
#define VESTIGE_RULES_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"

/* Of names, or of addresses as the symbol table of an object has them. */
struct pattern {
	/* A pattern of the names of objects; empty for all, with a range for the program. */
	const char *object;
	/* NULL when it is a range. */
	const char *name;
	uint64_t start;
	uint64_t end;
	bool is_exclude;
};

/* What patterns say of a function. */
enum verdict {
	VERDICT_INCLUDED = 1,
	VERDICT_EXCLUDED = 2,
};

struct patterns {
	struct pattern all[MOST_PATTERNS];
	unsigned int count;
	bool has_includes;
};

extern struct patterns patterns HIDDEN;

/* Add the patterns of `include=` or `exclude=`; false when they are malformed. */
bool patterns_parse(const char *list, size_t length, bool is_exclude) HIDDEN;
/* Whether a text matches a pattern with *, ? and [...]. */
bool glob_matches(const char *pattern, const char *text) HIDDEN;
/* Whether a pattern is about functions of an object. */
bool pattern_applies(const struct pattern *pattern, const char *path, bool is_program) HIDDEN;
/* What a pattern says when it matches. */
static inline unsigned int pattern_verdict(const struct pattern *pattern)
{
	return pattern->is_exclude ? VERDICT_EXCLUDED : VERDICT_INCLUDED;
}

#endif
