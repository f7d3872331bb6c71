/*
 * The interpreter's own frames in Python 3.11.
 *
 * Frames have no public form, but that of this version will not change any more.
 */
#ifndef VESTIGE_PYTHON_FRAME_LAYOUT_H
#define VESTIGE_PYTHON_FRAME_LAYOUT_H

#include "native.h"

#define GLOBALS_OFFSET 8
#define CODE_OFFSET 32
#define OWNER_OFFSET 69
#define OWNED_BY_GENERATOR 1
#define LOCALS_OFFSET 72
/* The instruction that ran last, of which the first byte is the operation. */
#define INSTRUCTION_OFFSET 56
/* Of a frame object: the frame that it is for. */
#define FRAME_OF_OBJECT_OFFSET (sizeof(PyObject) + sizeof(void *))

struct frame;

static inline PyObject *frame_code(const struct frame *frame)
{
	return *(PyObject *const *) (const void *) ((const char *) frame + CODE_OFFSET);
}

static inline PyObject *const *frame_locals(const struct frame *frame)
{
	return (PyObject *const *) (const void *) ((const char *) frame + LOCALS_OFFSET);
}

static inline bool frame_is_of_generator(const struct frame *frame)
{
	return ((const char *) frame)[OWNER_OFFSET] == OWNED_BY_GENERATOR;
}

static inline const struct frame *frame_of_object(const PyFrameObject *object)
{
	return *(const struct frame *const *) (const void *) ((const char *) object +
							      FRAME_OF_OBJECT_OFFSET);
}

#endif
