/* The file of the arena, opened. */
#ifndef VESTIGE_ARENA_DESCRIPTOR_H
#define VESTIGE_ARENA_DESCRIPTOR_H

#include "../base/compiler.h"
#include "place.h"

/* Open it by its path or, where the program may not, ask the collector for it; negative when
 * neither goes, or when it is not the one that is meant. */
int descriptor_open(const struct arena_place *place) HIDDEN;

#endif
