/* Collections of garbage. */
#ifndef VESTIGE_PYTHON_PAUSES_H
#define VESTIGE_PYTHON_PAUSES_H

#include "native.h"

/* Record collections of garbage. The arguments: two tracepoints, and the list of the
 * functions that the collector calls. */
PyObject *pauses_follow(PyObject *module, PyObject *arguments);

#endif
