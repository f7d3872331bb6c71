/* The words by which the recorder tells the tracer what to do. */
#ifndef VESTIGE_HOOKS_SETTINGS_WORDS_H
#define VESTIGE_HOOKS_SETTINGS_WORDS_H

#include <stdbool.h>

#include "../arena/place.h"
#include "../base/compiler.h"

/* Read them from the environment into the settings, and where the arena is; false when this
 * process is not recorded. */
bool settings_words_read(struct arena_place *place) HIDDEN;

#endif
