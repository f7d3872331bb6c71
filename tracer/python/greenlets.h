/* Calls in greenlets, which leave and resume with all that they have called. */
#ifndef VESTIGE_PYTHON_GREENLETS_H
#define VESTIGE_PYTHON_GREENLETS_H

#include "call_frame.h"

/* Whether the program has greenlets. */
extern bool greenlets_are_followed;

/* Follow the greenlets of all threads; the argument is the module. */
PyObject *greenlets_follow(PyObject *module, PyObject *greenlet);
/* Record a call of a greenlet; false in the main greenlet of a thread, which does not leave. */
bool greenlets_enter(uint64_t place, const void *id, bool is_resumed,
		     const struct call_frame *frame);
bool greenlets_leave(uint64_t place, bool is_suspended, const struct call_end *end);

#endif
