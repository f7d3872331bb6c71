/* Places of Python code, as addresses. */
#ifndef VESTIGE_PYTHON_PLACES_H
#define VESTIGE_PYTHON_PLACES_H

#include "native.h"

bool places_start(void);
/* The globals of the module of a frame, borrowed; NULL when they are not known. */
typedef PyObject *(*module_finder)(const void *frame);
/* Of a frame object, or of the present one. */
PyObject *place_globals_of_frame(const void *frame);
/* The address that stands for the first line of a code object that is called, which the
 * recording explains; 0 when it has none, or is not to be recorded. And what calling it
 * makes: flags. */
enum {
	CODE_GENERATOR = 1,
	/* With the flag above. */
	CODE_COROUTINE = 2,
	/* Calls are not recorded. */
	CODE_LEFT_OUT = 4,
};
uint64_t place_of_call(PyObject *code, module_finder find_module, const void *frame,
		       unsigned int *kind);
/* The same of any code object, for events in it. */
uint64_t place_of_code(PyObject *code);
/* The address of the line that the caller has come to. */
uint64_t place_of_caller(void);
uint64_t place_of_frame(PyFrameObject *frame);
/* Whether the recording takes what explains places. */
bool places_are_told(void);
/* A new address, 0 when there is none left; and what it stands for. */
uint64_t place_new(void);
void place_explain(uint64_t place, PyObject *file, PyObject *function, uint32_t line);
/* Counts forks: a child process explains its places itself. */
extern uint16_t place_generation;

#endif
