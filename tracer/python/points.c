/* Tracepoints that a Python program defines: an event with typed fields. */
#include "native.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <structmember.h>

/* In the limited API from Python 3.12 on, and the same ever since 3.8. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *arguments, size_t count,
				    PyObject *names);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *tuple, PyObject *dict);
#endif
#define ARGUMENT_COUNT (~((size_t) 1 << (8 * sizeof(size_t) - 1)))
#define MOST_FIELDS 64

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

static const struct vestige_field type_fields[TYPE_COUNT] = {
	[TYPE_INT] = {.kind = VESTIGE_INTEGER, .flags = VESTIGE_SIGNED, .size = 8},
	[TYPE_FLOAT] = {.kind = VESTIGE_FLOAT, .size = 8},
	[TYPE_STR] = {.kind = VESTIGE_STRING},
	[TYPE_BYTES] = {.kind = VESTIGE_SEQUENCE, .flags = VESTIGE_HEXADECIMAL, .size = 1,
			.length_size = 4},
	[TYPE_BOOL] = {.kind = VESTIGE_INTEGER, .size = 1},
	[TYPE_UINT32] = {.kind = VESTIGE_INTEGER, .size = 4},
	[TYPE_UINT64] = {.kind = VESTIGE_INTEGER, .size = 8},
};
static const char *const type_names[TYPE_COUNT] = {"int", "float", "str", "bytes", "bool", "int",
						   "int"};

/* What the tracer knows, which stays when the object goes. */
struct definition {
	struct own_event event;
	uint32_t count;
	/* The names of the fields, which are interned. */
	PyObject *names[MOST_FIELDS];
	uint8_t types[MOST_FIELDS];
	struct vestige_field fields[MOST_FIELDS];
	/* Whether a value that is not of its field's type was told. */
	bool has_complained;
};

struct point {
	PyObject_HEAD
	vectorcallfunc vectorcall;
	struct definition *definition;
};

/* A value on its way into a record. */
struct value {
	struct vestige_value plain;
	/* What holds the bytes, when it was made here. */
	PyObject *owned;
};

static const char *text_of(PyObject *object)
{
	const char *text = PyUnicode_AsUTF8AndSize(object, NULL);

	if (!text)
		PyErr_Clear();
	return text ? text : "?";
}

/* A program is never stopped by what it tells: one line on the standard error. */
static __attribute__((noinline, cold)) void complain(struct definition *definition,
						     const char *what, const char *field)
{
	if (definition->has_complained)
		return;
	definition->has_complained = true;
	PySys_WriteStderr("vestige: %s:%s: %s '%s'\n", definition->event.provider.name,
			  definition->event.event.name, what, field);
}

static __attribute__((noinline, cold)) void complain_type(struct definition *definition,
							  uint32_t index)
{
	char what[64];

	PyOS_snprintf(what, sizeof(what), "a value that is no %s in the field",
		      type_names[definition->types[index]]);
	complain(definition, what, definition->fields[index].name);
}

static bool read_int(struct value *value, PyObject *object)
{
	int overflow;

	value->plain.as.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
	if (UNLIKELY(overflow)) {
		value->plain.as.integer = overflow > 0 ? INT64_MAX : INT64_MIN;
		return false;
	}
	return true;
}

static bool read_text(struct value *value, PyObject *object)
{
	Py_ssize_t size;
	const char *text = PyUnicode_AsUTF8AndSize(object, &size);

	if (UNLIKELY(!text)) {
		/* Surrogates: as Python's standard error shows them. */
		PyErr_Clear();
		value->owned = PyUnicode_AsEncodedString(object, "utf-8", "backslashreplace");
		if (!value->owned)
			return false;
		text = PyBytes_AsString(value->owned);
		size = PyBytes_Size(value->owned);
	}
	value->plain.as.bytes = text;
	/* A string of a trace ends where a NUL is. */
	value->plain.length = strnlen(text, (size_t) size);
	return true;
}

static bool read_bytes(struct value *value, PyObject *object)
{
	char *bytes;
	Py_ssize_t size;

	if (UNLIKELY(!PyBytes_Check(object))) {
		if (!PyByteArray_Check(object) && !PyMemoryView_Check(object))
			return false;
		object = value->owned = PyBytes_FromObject(object);
	}
	if (!object || PyBytes_AsStringAndSize(object, &bytes, &size) != 0)
		return false;
	value->plain.as.bytes = bytes;
	value->plain.length = size < UINT32_MAX ? (size_t) size : UINT32_MAX;
	return true;
}

/* Read an object as a field's value: zero or empty when it is of another type. */
static bool read_value(struct value *value, enum type type, PyObject *object)
{
	value->owned = NULL;
	value->plain.as.integer = 0;
	value->plain.length = 0;
	if (type == TYPE_STR || type == TYPE_BYTES)
		value->plain.as.bytes = "";
	switch (type) {
	case TYPE_INT:
	case TYPE_UINT32:
		return PyLong_Check(object) && read_int(value, object);
	case TYPE_UINT64:
		value->plain.as.integer = PyLong_Check(object)
			? (int64_t) PyLong_AsUnsignedLongLongMask(object)
			: 0;
		return true;
	case TYPE_BOOL:
		if (object != Py_True && object != Py_False)
			return false;
		value->plain.as.integer = object == Py_True;
		return true;
	case TYPE_FLOAT:
		value->plain.as.real = 0;
		if (!PyFloat_Check(object) && !PyLong_Check(object))
			return false;
		value->plain.as.real = PyFloat_AsDouble(object);
		return !(value->plain.as.real == -1.0 && PyErr_Occurred());
	case TYPE_STR:
		return PyUnicode_Check(object) && read_text(value, object);
	case TYPE_BYTES:
		return read_bytes(value, object);
	default:
		return false;
	}
}

static size_t size_of(enum type type, const struct vestige_value *value)
{
	switch (type) {
	case TYPE_BOOL:
		return 1;
	case TYPE_UINT32:
		return sizeof(uint32_t);
	case TYPE_STR:
		return value->length + 1;
	case TYPE_BYTES:
		return sizeof(uint32_t) + value->length;
	default:
		return sizeof(int64_t);
	}
}

static void put_value(struct vestige_record *record, enum type type,
		      const struct vestige_value *value)
{
	const uint32_t length = (uint32_t) value->length;
	const uint8_t flag = (uint8_t) value->as.integer;
	const uint32_t number = (uint32_t) value->as.integer;

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

/* The field of a named argument: mostly that of the same place. */
static uint32_t field_of(const struct definition *definition, PyObject *name, uint32_t guess)
{
	if (LIKELY(guess < definition->count && definition->names[guess] == name))
		return guess;
	for (uint32_t index = 0; index < definition->count; index++)
		if (PyUnicode_Compare(definition->names[index], name) == 0)
			return index;
	return UINT32_MAX;
}

/* Which argument is for which field; false when any has none. */
static bool sort_arguments(struct definition *definition, PyObject **objects,
			   PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
	const Py_ssize_t named = names ? PyTuple_Size(names) : 0;
	bool is_right = count + named == (Py_ssize_t) definition->count;

	for (uint32_t index = 0; index < definition->count; index++)
		objects[index] = index < (size_t) count ? arguments[index] : NULL;
	for (Py_ssize_t index = 0; index < named; index++) {
		const uint32_t field = field_of(definition, PyTuple_GetItem(names, index),
						(uint32_t) (count + index));

		if (UNLIKELY(field == UINT32_MAX))
			is_right = false;
		else
			objects[field] = arguments[count + index];
	}
	return is_right;
}

static void record_values(struct definition *definition, uint64_t place,
			  const struct value *values)
{
	const struct vestige_event *event = &definition->event.event;
	const void *ip = (const void *) (uintptr_t) place;
	struct vestige_value plain[MOST_FIELDS];
	struct vestige_record record;
	size_t size = 0;

	if (UNLIKELY(event->filter)) {
		for (uint32_t index = 0; index < definition->count; index++)
			plain[index] = values[index].plain;
		if (!tracer->passes(event, plain, ip))
			return;
	}
	for (uint32_t index = 0; index < definition->count; index++)
		size += size_of(definition->types[index], &values[index].plain);
	if (!tracer->begin(event, &record, size, ip))
		return;
	for (uint32_t index = 0; index < definition->count; index++)
		put_value(&record, definition->types[index], &values[index].plain);
	tracer->commit(&record);
}

void point_record(PyObject *point, uint64_t place, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *names)
{
	struct definition *definition = ((struct point *) point)->definition;
	PyObject *objects[MOST_FIELDS];
	struct value values[MOST_FIELDS];
	PyObject *error_type, *error, *traceback;

	PyErr_Fetch(&error_type, &error, &traceback);
	if (UNLIKELY(!sort_arguments(definition, objects, arguments, count, names)))
		complain(definition, "arguments other than its fields, of which the first is",
			 definition->count ? definition->fields[0].name : "");
	for (uint32_t index = 0; index < definition->count; index++) {
		PyObject *object = objects[index] ? objects[index] : Py_None;

		if (UNLIKELY(!read_value(&values[index], definition->types[index], object))) {
			PyErr_Clear();
			complain_type(definition, index);
		}
	}
	record_values(definition, place, values);
	for (uint32_t index = 0; index < definition->count; index++)
		Py_XDECREF(values[index].owned);
	PyErr_Restore(error_type, error, traceback);
}

bool point_is_recorded(PyObject *point)
{
	return event_is_recorded(&((struct point *) point)->definition->event);
}

static PyObject *point_call(PyObject *self, PyObject *const *arguments, size_t count,
			    PyObject *names)
{
	if (UNLIKELY(point_is_recorded(self)))
		point_record(self, place_of_caller(), arguments,
			     (Py_ssize_t) (count & ARGUMENT_COUNT), names);
	Py_RETURN_NONE;
}

/* Record with the place of a code object's beginning. */
static PyObject *point_at(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	if (count > 0 && point_is_recorded(self))
		point_record(self, place_of_code(arguments[0]), arguments + 1, count - 1, NULL);
	Py_RETURN_NONE;
}

/* Record with the place that a frame has come to. */
static PyObject *point_at_frame(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	if (count > 0 && point_is_recorded(self))
		point_record(self, place_of_frame((PyFrameObject *) arguments[0]), arguments + 1,
			     count - 1, NULL);
	Py_RETURN_NONE;
}

static PyObject *get_enabled(PyObject *self, void *closure)
{
	(void) closure;
	return PyBool_FromLong(point_is_recorded(self));
}

static PyObject *get_name(PyObject *self, void *closure)
{
	const struct definition *definition = ((struct point *) self)->definition;

	(void) closure;
	return PyUnicode_FromFormat("%s:%s", definition->event.provider.name,
				    definition->event.event.name);
}

static PyObject *get_fields(PyObject *self, void *closure)
{
	const struct definition *definition = ((struct point *) self)->definition;
	PyObject *result = PyDict_New();

	(void) closure;
	for (uint32_t index = 0; result && index < definition->count; index++) {
		PyObject *type = PyUnicode_FromString(type_names[definition->types[index]]);

		if (!type || PyDict_SetItem(result, definition->names[index], type) != 0)
			Py_CLEAR(result);
		Py_XDECREF(type);
	}
	return result;
}

static PyObject *point_repr(PyObject *self)
{
	const struct definition *definition = ((struct point *) self)->definition;

	return PyUnicode_FromFormat("<tracepoint %s:%s%s>", definition->event.provider.name,
				    definition->event.event.name,
				    point_is_recorded(self) ? ", recorded" : "");
}

static bool define_field(struct definition *definition, PyObject *pair)
{
	const uint32_t index = definition->count;
	PyObject *name;
	int type;

	if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "Ui", &name, &type))
		return false;
	if (index >= MOST_FIELDS || type < 0 || type >= TYPE_COUNT) {
		PyErr_SetString(PyExc_ValueError, "too many fields, or an unknown type");
		return false;
	}
	Py_INCREF(name);
	PyUnicode_InternInPlace(&name);
	definition->names[index] = name;
	definition->types[index] = (uint8_t) type;
	definition->fields[index] = type_fields[type];
	definition->fields[index].name = text_of(name);
	definition->count++;
	return true;
}

static PyObject *point_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	const allocfunc allocate = (allocfunc) PyType_GetSlot(type, Py_tp_alloc);
	const char *provider, *name;
	struct definition *definition;
	struct point *point;
	PyObject *fields;
	int level;

	(void) keywords;
	if (!PyArg_ParseTuple(arguments, "ssiO!", &provider, &name, &level, &PyTuple_Type, &fields))
		return NULL;
	point = (struct point *) (void *) allocate(type, 0);
	definition = calloc(1, sizeof(*definition));
	if (!point || !definition)
		return PyErr_NoMemory();
	point->vectorcall = point_call;
	point->definition = definition;
	for (Py_ssize_t index = 0; index < PyTuple_Size(fields); index++)
		if (!define_field(definition, PyTuple_GetItem(fields, index)))
			return NULL;
	event_define(&definition->event, strdup(provider), strdup(name), level,
		     definition->fields, definition->count, 0);
	return (PyObject *) point;
}

static PyMemberDef members[] = {
	{"__vectorcalloffset__", T_PYSSIZET, offsetof(struct point, vectorcall), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"enabled", get_enabled, NULL, "Whether the event is recorded.", NULL},
	{"name", get_name, NULL, "The name of the event, with its provider.", NULL},
	{"fields", get_fields, NULL, "The types of the fields, by their names.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
	{"at", (PyCFunction) (void (*)(void)) point_at, METH_FASTCALL,
	 "Record an event at the beginning of a code object."},
	{"at_frame", (PyCFunction) (void (*)(void)) point_at_frame, METH_FASTCALL,
	 "Record an event where a frame is."},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_new, point_new},
	{Py_tp_call, PyVectorcall_Call},
	{Py_tp_repr, point_repr},
	{Py_tp_members, members},
	{Py_tp_getset, attributes},
	{Py_tp_methods, methods},
	{Py_tp_doc, "A tracepoint: called with the values of its fields, it records an event."},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "vestige.instrument._native.Tracepoint",
	.basicsize = sizeof(struct point),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

PyObject *point_type;

bool points_start(PyObject *module)
{
	if (!point_type)
		point_type = PyType_FromSpec(&spec);
	return point_type && PyModule_AddObjectRef(module, "Tracepoint", point_type) == 0;
}
