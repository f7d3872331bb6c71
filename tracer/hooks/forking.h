/* fork(), as the tracer learns of it. */
#ifndef VESTIGE_HOOKS_FORKING_H
#define VESTIGE_HOOKS_FORKING_H

#include "../base/compiler.h"

/* From now on, what must be done at a fork is done. */
void forking_start(void) HIDDEN;

#endif
