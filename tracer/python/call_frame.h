/* What calls begin and end with. */
#ifndef VESTIGE_PYTHON_CALL_FRAME_H
#define VESTIGE_PYTHON_CALL_FRAME_H

#include "native.h"

struct frame;

/* Where the arguments of a call are. */
struct call_frame {
	PyObject *code;
	/* The interpreter's own frame in Python 3.11, or NULL, and whether it has put variables
	 * into cells. */
	const struct frame *layout;
	bool has_cells;
	PyFrameObject *object;
};

/* What a call ended with: a value, or the type of an exception. Neither, when it is an
 * exception of which nothing is known. */
struct call_end {
	PyObject *returned;
	PyObject *raised;
};

#endif
