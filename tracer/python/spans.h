/* Spans: what lies between two events. */
#ifndef VESTIGE_PYTHON_SPANS_H
#define VESTIGE_PYTHON_SPANS_H

#include "native.h"

bool spans_start(PyObject *module);

#endif
