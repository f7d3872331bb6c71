/* A tracer that comes later than this module. */
#ifndef VESTIGE_PYTHON_LATE_H
#define VESTIGE_PYTHON_LATE_H

#include "event.h"

/* What was found by the name of the tracer, if it is one that this module knows; else NULL. */
const struct vestige_tracer *late_check(const void *found) HIDDEN;
/* Begin with the tracer that has been loaded, without the interpreter's lock: nothing of Python is
 * touched. */
void late_begin(void) HIDDEN;

#endif
