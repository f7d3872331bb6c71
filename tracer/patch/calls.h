/* Calls of functions whose entries lead to us. */
#ifndef VESTIGE_PATCH_CALLS_H
#define VESTIGE_PATCH_CALLS_H

#include <stdbool.h>

#include "../base/compiler.h"

/* Make what calls need; false where they cannot be recorded. */
bool calls_start(void) HIDDEN;
/* Why ends of calls cannot be had that are wanted; NULL where they can. */
const char *calls_lack_exits(void) HIDDEN;
/* Leave return addresses alone from now on: an object has come that copies stacks. Whether ends of
 * calls are missing for it. */
bool calls_leave_returns(void) HIDDEN;

#endif
