/* What the auditing library tells: which objects the dynamic linker maps and unmaps. */
#ifndef VESTIGE_OBJECTS_LOADS_H
#define VESTIGE_OBJECTS_LOADS_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "object.h"

/* Listen from now on. */
void loads_start(void) HIDDEN;
/* Have functions called with each object that is mapped from now on, before any of its code runs,
 * and with where each was that is gone. The dynamic linker has its lock. */
void loads_watch(void (*mapped)(const struct link_map *map, const struct object *object),
		 void (*gone)(uintptr_t base)) HIDDEN;
/* Whether the dynamic linker tells what it loads. */
bool objects_are_told(void) HIDDEN;

#endif
