/* Tracepoints that a Python program defines. */
#ifndef VESTIGE_PYTHON_POINTS_H
#define VESTIGE_PYTHON_POINTS_H

#include "native.h"

extern PyObject *point_type;
bool points_start(PyObject *module);
/* Record an event, at a place; the arguments are as in a vector call. false when an exception
 * is set: where values must fit, or after Ctrl-C in a method of a value. */
bool point_record(PyObject *point, uint64_t place, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *names);
/* Whether its values are looked at: it is recorded, or they must fit. */
bool point_is_wanted(PyObject *point);

#endif
