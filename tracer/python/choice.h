/* Which functions are recorded. */
#ifndef VESTIGE_PYTHON_CHOICE_H
#define VESTIGE_PYTHON_CHOICE_H

#include "native.h"

/* What is asked for; the arguments are patterns of functions as the recorder writes them,
 * those to be included and those to be excluded, and directories of code that is left out,
 * or None. */
PyObject *choice_set(PyObject *module, PyObject *arguments);
/* Whether functions of Python are recorded; `globals` are those of its module, or NULL. */
bool choice_takes(PyObject *path, PyObject *name, PyObject *globals);
/* Whether functions that are written in C are; of their modules, too. */
bool choice_takes_builtin(PyObject *module, PyObject *name);

#endif
