/* Values of a Python program, as fields of a record (values.c). */
#ifndef VESTIGE_PYTHON_VALUES_H
#define VESTIGE_PYTHON_VALUES_H

#include "native.h"

enum type {
	TYPE_INT,
	TYPE_FLOAT,
	TYPE_STR,
	TYPE_BYTES,
	TYPE_BOOL,
	/* For events that others have defined. */
	TYPE_UINT32,
	TYPE_UINT64,
	TYPE_COUNT,
};

/* How well an object fits a field. */
enum fit {
	FIT_WHOLE,
	/* It has no such value: zero or empty. */
	FIT_NONE,
	/* It is beyond the limits: the nearest one. */
	FIT_NEAREST,
	/* It is no whole number: without its fraction. */
	FIT_PART,
	/* Nothing was given. */
	FIT_MISSING,
	/* An exception is set that is not ours to hide, as after Ctrl-C. */
	FIT_RAISES,
};

/* A value on its way into a record. */
struct value {
	struct vestige_value plain;
	/* What holds the bytes, when it was made here. */
	PyObject *owned;
};

extern const struct vestige_field type_fields[TYPE_COUNT];
extern const char *const type_names[TYPE_COUNT];

/* Read an object as a field's value. Whatever `fit` is, `value` can be written. */
enum fit value_read(struct value *value, enum type type, PyObject *object);
/* The bytes that it takes in a record. */
size_t value_size(enum type type, const struct vestige_value *value);
void value_put(struct vestige_record *record, enum type type, const struct vestige_value *value);

#endif
