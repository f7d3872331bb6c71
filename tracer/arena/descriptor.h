/* The file of the arena, opened. */
#ifndef VESTIGE_ARENA_DESCRIPTOR_H
#define VESTIGE_ARENA_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "place.h"

/* What somebody asks the collector for who does not want an arena. */
struct descriptor_question {
	const void *bytes;
	size_t size;
	/* How long each step may take. */
	uint32_t milliseconds;
};

/* Open it by its path or, where the program may not, ask the collector for it; negative when
 * neither goes, or when it is not the one that is meant. */
int descriptor_open(const struct arena_place *place) HIDDEN;
/* Ask it for something else. The answer is a byte, 0 for none in time; returns the descriptor that
 * came with it, negative for none. False where nobody could be asked. */
bool descriptor_ask(const struct arena_place *place, const struct descriptor_question *question,
		    char *answer, int *file) HIDDEN;

#endif
