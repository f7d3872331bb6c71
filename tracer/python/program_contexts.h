/* Contexts that a Python program sets: `$app.PROVIDER:TYPE` (program_contexts.c). */
#ifndef VESTIGE_PYTHON_PROGRAM_CONTEXTS_H
#define VESTIGE_PYTHON_PROGRAM_CONTEXTS_H

#include "native.h"

extern unsigned int program_context_count;

/* Let the thread have what the variables of its context hold: before a record, since tasks take
 * turns in a thread. */
void program_contexts_read(void);

static inline void program_contexts_refresh(void)
{
	if (UNLIKELY(program_context_count))
		program_contexts_read();
}

/* For Python: add a context of a name, which a context variable holds; read them again. */
PyObject *program_contexts_add(PyObject *module, PyObject *arguments);
PyObject *program_contexts_set(PyObject *module, PyObject *unused);

#endif
