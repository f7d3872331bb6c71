/* The functions of an object that patterns match. */
#ifndef VESTIGE_RULES_FUNCTION_NAMES_H
#define VESTIGE_RULES_FUNCTION_NAMES_H

#include <stdint.h>

#include "../base/compiler.h"
#include "patterns.h"

/* An object that holds functions, as it is mapped here. */
struct filtered {
	/* The end is written last and read first; zero for none. */
	uintptr_t start;
	uintptr_t end;
	/* What is added to the addresses of its symbol table. */
	uintptr_t bias;
	/* The patterns that are about it, a bit for each. */
	uint64_t applies[MOST_PATTERNS / 64];
	/* Addresses of functions that patterns match, above two bits of verdict, in order. */
	uint64_t *found;
	size_t count;
	size_t found_size;
};

/* Find the segments of an object file, mapped with `file_offset` at `place`, and its
 * functions. Called by one thread at a time. */
bool names_read(struct filtered *object, int file, uintptr_t place, uint64_t file_offset) HIDDEN;
/* What the patterns say of a function in the object. */
unsigned int names_verdict(const struct filtered *object, uintptr_t function) HIDDEN;

#endif
