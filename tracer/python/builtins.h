/* Places of functions that are written in C. */
#ifndef VESTIGE_PYTHON_BUILTINS_H
#define VESTIGE_PYTHON_BUILTINS_H

#include "native.h"

/* The address that stands for such a function. */
uint64_t place_of_builtin(PyObject *function);

#endif
