/* Calls from the profiling hook. */
#ifndef VESTIGE_PYTHON_PROFILE_H
#define VESTIGE_PYTHON_PROFILE_H

#include "native.h"

/* Learn of calls; false when that cannot be done. */
bool profile_start(bool builtins);
/* All threads get the profiling hook while functions run. */
bool profile_can_take_over(void);
void profile_take_over(void);

#endif
