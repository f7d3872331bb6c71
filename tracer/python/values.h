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

static inline void value_set_int(struct value *value, int64_t integer)
{
	value->plain.as.integer = integer;
	value->plain.length = 0;
	value->owned = NULL;
}

/* Read a text of ours, which is empty where there is none; no exception is left. */
void value_read_text(struct value *value, PyObject *text);
/* The same of what most programs give: no conversion, and nothing that could fail. False when it is
 * something else, and nothing has happened then. */
static INLINED bool value_read_usual(struct value *value, enum type type, PyObject *object)
{
	const char *text;
	Py_ssize_t size;
	int overflow;

	if (UNLIKELY(!object))
		return false;
	value->owned = NULL;
	if (type == TYPE_INT && LIKELY(Py_TYPE(object) == &PyLong_Type)) {
		value->plain.as.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
		value->plain.length = 0;
		return LIKELY(!overflow);
	}
	if (type == TYPE_FLOAT && LIKELY(Py_TYPE(object) == &PyFloat_Type)) {
		value->plain.as.real = PyFloat_AsDouble(object);
		value->plain.length = 0;
		return true;
	}
	if (type != TYPE_STR || UNLIKELY(Py_TYPE(object) != &PyUnicode_Type))
		return false;
	text = PyUnicode_AsUTF8AndSize(object, &size);
	if (UNLIKELY(!text)) {
		PyErr_Clear();
		return false;
	}
	value->plain.as.bytes = text;
	/* A string of a trace ends where a NUL is. */
	value->plain.length = strnlen(text, (size_t) size);
	return true;
}

/* The bytes that it takes in a record, without the length of its text or bytes. */
static inline size_t value_fixed_size(enum type type)
{
	switch (type) {
	case TYPE_BOOL:
	case TYPE_STR:
		return 1;
	case TYPE_UINT32:
	case TYPE_BYTES:
		return sizeof(uint32_t);
	default:
		return sizeof(int64_t);
	}
}

static INLINED void value_put(struct vestige_record *record, enum type type,
			      const struct vestige_value *value)
{
	const uint32_t length = (uint32_t) value->length;
	const uint8_t flag = (uint8_t) value->as.integer;
	const uint32_t number = (uint32_t) value->as.integer;

	if (LIKELY(type == TYPE_INT)) {
		put(record, &value->as.integer, sizeof(value->as.integer));
		return;
	}
	switch (type) {
	case TYPE_BOOL:
		put(record, &flag, sizeof(flag));
		break;
	case TYPE_UINT32:
		put(record, &number, sizeof(number));
		break;
	case TYPE_STR:
		put(record, value->as.bytes, value->length);
		put(record, "", 1);
		break;
	case TYPE_BYTES:
		put(record, &length, sizeof(length));
		put(record, value->as.bytes, value->length);
		break;
	case TYPE_FLOAT:
		put(record, &value->as.real, sizeof(value->as.real));
		break;
	default:
		put(record, &value->as.integer, sizeof(value->as.integer));
	}
}

#endif
