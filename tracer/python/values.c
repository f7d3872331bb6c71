/*
 * Values of a Python program, as fields of a record.
 *
 * An object of another type than its field stands for what the language itself takes it
 * for: `__index__`, `__float__`, truth, `__fspath__`, the buffer protocol.
 */
#include "values.h"

#include <math.h>

#define TWO_TO_63 9223372036854775808.0

const struct vestige_field type_fields[TYPE_COUNT] = {
	[TYPE_INT] = {.kind = VESTIGE_INTEGER, .flags = VESTIGE_SIGNED, .size = 8},
	[TYPE_FLOAT] = {.kind = VESTIGE_FLOAT, .size = 8},
	[TYPE_STR] = {.kind = VESTIGE_STRING},
	[TYPE_BYTES] = {.kind = VESTIGE_SEQUENCE,
			.flags = VESTIGE_HEXADECIMAL,
			.size = 1,
			.length_size = 4},
	[TYPE_BOOL] = {.kind = VESTIGE_INTEGER, .size = 1},
	[TYPE_UINT32] = {.kind = VESTIGE_INTEGER, .size = 4},
	[TYPE_UINT64] = {.kind = VESTIGE_INTEGER, .size = 8},
};
const char *const type_names[TYPE_COUNT] = {"int", "float", "str", "bytes", "bool", "int", "int"};

/* After a conversion failed: whether that is the program's matter. */
static __attribute__((noinline, cold)) enum fit failed(void)
{
	if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
		return FIT_RAISES;
	PyErr_Clear();
	return FIT_NONE;
}

static inline enum fit read_int(struct value *value, PyObject *object)
{
	int overflow;

	value->plain.as.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
	if (UNLIKELY(overflow)) {
		value->plain.as.integer = overflow > 0 ? INT64_MAX : INT64_MIN;
		return FIT_NEAREST;
	}
	return FIT_WHOLE;
}

/* A number without __index__: its whole part. Its float comes first, since the int of
 * Decimal("1e999999") would take all memory. */
static enum fit read_whole_part(struct value *value, PyObject *object)
{
	const double real = PyFloat_AsDouble(object);
	PyObject *whole;
	int is_equal;

	if (real == -1.0 && PyErr_Occurred())
		return failed();
	if (isnan(real))
		return FIT_NONE;
	if (real >= TWO_TO_63 || real < -TWO_TO_63) {
		value->plain.as.integer = real > 0 ? INT64_MAX : INT64_MIN;
		return FIT_NEAREST;
	}
	whole = PyNumber_Long(object);
	if (!whole)
		return failed();
	if (read_int(value, whole) == FIT_NEAREST) {
		Py_DECREF(whole);
		return FIT_NEAREST;
	}
	is_equal = PyObject_RichCompareBool(whole, object, Py_EQ);
	Py_DECREF(whole);
	if (is_equal < 0)
		return failed() == FIT_RAISES ? FIT_RAISES : FIT_PART;
	return is_equal ? FIT_WHOLE : FIT_PART;
}

static __attribute__((noinline, cold)) enum fit read_as_int(struct value *value, PyObject *object)
{
	PyObject *index;
	enum fit fit;

	if (!PyNumber_Check(object))
		return FIT_NONE;
	index = PyNumber_Index(object);
	if (!index)
		return failed() == FIT_RAISES ? FIT_RAISES : read_whole_part(value, object);
	fit = read_int(value, index);
	Py_DECREF(index);
	return fit;
}

static __attribute__((noinline, cold)) enum fit too_large(struct value *value, PyObject *object)
{
	PyObject *zero = PyLong_FromLong(0);
	const int is_below = zero ? PyObject_RichCompareBool(object, zero, Py_LT) : 0;

	Py_XDECREF(zero);
	if (is_below < 0)
		return failed();
	value->plain.as.real = is_below ? -HUGE_VAL : HUGE_VAL;
	return FIT_NEAREST;
}

static enum fit read_float(struct value *value, PyObject *object)
{
	const double real = PyFloat_AsDouble(object);

	if (UNLIKELY(real == -1.0 && PyErr_Occurred())) {
		if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
			PyErr_Clear();
			return too_large(value, object);
		}
		return failed();
	}
	value->plain.as.real = real;
	return FIT_WHOLE;
}

static enum fit read_bool(struct value *value, PyObject *object)
{
	const int truth = PyObject_IsTrue(object);

	if (UNLIKELY(truth < 0))
		return failed();
	value->plain.as.integer = truth;
	return FIT_WHOLE;
}

static enum fit read_text(struct value *value, PyObject *object)
{
	Py_ssize_t size;
	const char *text = PyUnicode_AsUTF8AndSize(object, &size);

	if (UNLIKELY(!text)) {
		/* Surrogates: as Python's standard error shows them. */
		PyObject *encoded;

		PyErr_Clear();
		encoded = PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace");
		if (!encoded)
			return failed();
		Py_XDECREF(value->owned);
		value->owned = encoded;
		text = PyBytes_AsString(encoded);
		size = PyBytes_Size(encoded);
	}
	value->plain.as.bytes = text;
	/* A string of a trace ends where a NUL is. */
	value->plain.length = strnlen(text, (size_t) size);
	return FIT_WHOLE;
}

/* What a path or bytes are as str or bytes; NULL when it is neither, with an exception. */
static PyObject *plain_path(PyObject *object)
{
	if (PyByteArray_Check(object) || PyMemoryView_Check(object))
		return PyBytes_FromObject(object);
	return PyOS_FSPath(object);
}

static __attribute__((noinline, cold)) enum fit read_as_text(struct value *value,
							     PyObject *object)
{
	PyObject *plain = plain_path(object);

	if (plain && PyBytes_Check(plain)) {
		PyObject *text = PyUnicode_FromEncodedObject(plain, "utf-8", "backslashreplace");

		Py_DECREF(plain);
		plain = text;
	}
	if (!plain)
		return failed();
	value->owned = plain;
	return read_text(value, plain);
}

static inline enum fit read_plain_bytes(struct value *value, PyObject *object)
{
	char *bytes;
	Py_ssize_t size;

	if (PyBytes_AsStringAndSize(object, &bytes, &size) != 0)
		return failed();
	value->plain.as.bytes = bytes;
	value->plain.length = size < UINT32_MAX ? (size_t) size : UINT32_MAX;
	return FIT_WHOLE;
}

static __attribute__((noinline, cold)) enum fit read_as_bytes(struct value *value,
							      PyObject *object)
{
	PyObject *plain;

	if (!PyUnicode_Check(object) && PyObject_CheckBuffer(object))
		plain = PyBytes_FromObject(object);
	else
		plain = PyOS_FSPath(object);
	if (plain && PyUnicode_Check(plain)) {
		PyObject *bytes = PyUnicode_AsEncodedString(plain, "utf-8", "surrogateescape");

		Py_DECREF(plain);
		plain = bytes;
	}
	if (!plain)
		return failed();
	value->owned = plain;
	return read_plain_bytes(value, plain);
}

enum fit value_read(struct value *value, enum type type, PyObject *object)
{
	value->owned = NULL;
	value->plain.as.integer = 0;
	value->plain.length = 0;
	if (type == TYPE_STR || type == TYPE_BYTES)
		value->plain.as.bytes = "";
	if (UNLIKELY(!object))
		return FIT_MISSING;
	switch (type) {
	case TYPE_INT:
	case TYPE_UINT32:
		if (LIKELY(PyLong_Check(object)))
			return read_int(value, object);
		return read_as_int(value, object);
	case TYPE_UINT64:
		value->plain.as.integer = PyLong_Check(object)
			? (int64_t) PyLong_AsUnsignedLongLongMask(object)
			: 0;
		return FIT_WHOLE;
	case TYPE_BOOL:
		return read_bool(value, object);
	case TYPE_FLOAT:
		value->plain.as.real = 0;
		return read_float(value, object);
	case TYPE_STR:
		if (LIKELY(PyUnicode_Check(object)))
			return read_text(value, object);
		return read_as_text(value, object);
	case TYPE_BYTES:
		if (LIKELY(PyBytes_Check(object)))
			return read_plain_bytes(value, object);
		return read_as_bytes(value, object);
	default:
		return FIT_NONE;
	}
}

void value_read_text(struct value *value, PyObject *text)
{
	if (text && value_read_usual(value, TYPE_STR, text))
		return;
	if (PyErr_Occurred())
		PyErr_Clear();
	if (value_read(value, TYPE_STR, text) == FIT_RAISES)
		PyErr_Clear();
}
