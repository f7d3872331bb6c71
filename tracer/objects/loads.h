/* What the auditing library tells: which objects the dynamic linker maps and unmaps. */
#ifndef VESTIGE_OBJECTS_LOADS_H
#define VESTIGE_OBJECTS_LOADS_H

#include <stdbool.h>

#include "../base/compiler.h"

/* Listen from now on. */
void loads_start(void) HIDDEN;
/* Whether the dynamic linker tells what it loads. */
bool objects_are_told(void) HIDDEN;

#endif
