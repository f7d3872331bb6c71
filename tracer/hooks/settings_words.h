/* The words by which the recorder tells the tracer what to do. */
#ifndef VESTIGE_HOOKS_SETTINGS_WORDS_H
#define VESTIGE_HOOKS_SETTINGS_WORDS_H

#include <stdbool.h>

#include "../arena/place.h"
#include "../base/compiler.h"
#include "../base/settings.h"

/* A recording as it is asked for. */
struct wanted {
	/* Those of them that words tell, those of the channel as of the first; the others are zero. */
	struct settings settings;
	struct arena_place place;
};

/* Read words to what was zero before; false when they are malformed, or for a tracer that agrees
 * on something else. */
bool settings_words_parse(const char *text, struct wanted *wanted) HIDDEN;
/* Read those of the environment; false when this process is not recorded. */
bool settings_words_read(struct wanted *wanted) HIDDEN;

#endif
