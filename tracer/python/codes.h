/* What is known of code objects. */
#ifndef VESTIGE_PYTHON_CODES_H
#define VESTIGE_PYTHON_CODES_H

#include "native.h"

/* Counts what makes known places wrong: code objects that go, and forks. */
extern uint32_t codes_changes;

/* What is known of a code object; NULL when there is nothing. */
uint64_t *codes_find(const PyObject *code);
/* Note a word for a code object that has none; false where there is no memory. */
bool codes_add(PyObject *code, uint64_t word);

/* What is kept for a code object that has a word, or NULL; `release` is called with it when the
 * code object goes. */
void **codes_parameters(const PyObject *code, void (*release)(void *parameters));

#endif
