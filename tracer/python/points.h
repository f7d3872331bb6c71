/* Tracepoints that a Python program defines. */
#ifndef VESTIGE_PYTHON_POINTS_H
#define VESTIGE_PYTHON_POINTS_H

#include "values.h"

extern PyObject *point_type;
bool points_start(PyObject *module);
/* Record an event, at a place; the arguments are as in a vector call. false when an exception
 * is set: where values must fit, or after Ctrl-C in a method of a value. */
bool point_record(PyObject *point, uint64_t place, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *names);
/* The same with values of ours for the first fields, which stay with the caller. */
bool point_record_behind(PyObject *point, uint64_t place, const struct value *own,
			 uint32_t own_count, PyObject *const *arguments, Py_ssize_t count,
			 PyObject *names);
/* The address of the line that the caller of a point has come to. */
uint64_t point_place_of_caller(PyObject *point);
/* Whether its values are looked at: it is recorded, or they must fit. */
bool point_is_wanted(PyObject *point);

#endif
