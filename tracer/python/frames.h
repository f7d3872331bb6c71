/* Calls from the function that evaluates frames. */
#ifndef VESTIGE_PYTHON_FRAMES_H
#define VESTIGE_PYTHON_FRAMES_H

#include "native.h"

/* Learn of calls; false when this version of Python has no such thing. */
bool frames_start(void);

#endif
