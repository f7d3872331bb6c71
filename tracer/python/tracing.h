/* Recording all calls. */
#ifndef VESTIGE_PYTHON_TRACING_H
#define VESTIGE_PYTHON_TRACING_H

#include "native.h"

/* Record all calls from now on. The arguments: whether those of C functions, too; how deep
 * calls may be, and how long one lasts at least, in ticks of the recording's clock, or 0;
 * whether events have arguments and results. */
PyObject *tracing_start(PyObject *module, PyObject *arguments);

#endif
