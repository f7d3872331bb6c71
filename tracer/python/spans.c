/*
 * Spans: what lies between two events.
 *
 * Each time that a span begins there is an opening, with a number of its own. The innermost
 * one is in a context variable, so that tasks, threads and greenlets have each their own:
 * it is the parent of what begins next.
 */
#include "spans.h"

#include <stddef.h>
#include <structmember.h>

#include "openings.h"
#include "places.h"
#include "points.h"

#define MOST_VALUES 64
/* Number, exception, time that a generator waited. */
#define EXIT_FIELDS 3

static PyTypeObject *span_type;

/* Record the entry, with the values of the span behind ours. */
static struct opening *enter(struct span *span, PyObject *code, PyObject *const *given,
			     Py_ssize_t count, PyObject *names)
{
	struct opening *opening = opening_new(span, code);
	PyObject *values[OPENING_FIELDS + MOST_VALUES] = {NULL};
	const uint64_t place = code ? place_of_code(code) : place_of_caller();
	bool goes_on = opening && opening_values(opening, values);

	if (count > MOST_VALUES)
		count = MOST_VALUES;
	for (Py_ssize_t index = 0; index < count; index++)
		values[OPENING_FIELDS + index] = given[index];
	goes_on = goes_on &&
		point_record(span->entry, place, values,
			     OPENING_FIELDS + count - (names ? PyTuple_Size(names) : 0), names);
	for (int index = 0; index < OPENING_FIELDS; index++)
		Py_XDECREF(values[index]);
	if (goes_on)
		return opening;
	if (opening)
		opening_end(opening);
	Py_XDECREF((PyObject *) opening);
	return NULL;
}

/* Record the exit of an opening that is this one's or the context's. */
static bool leave(struct span *span, struct opening *opening, PyObject *failure)
{
	PyObject *values[EXIT_FIELDS] = {
		PyLong_FromUnsignedLongLong(opening ? opening->id : 0),
		failure && PyType_Check(failure) ? PyType_GetName((PyTypeObject *) failure)
						 : PyUnicode_FromString(""),
		PyLong_FromLongLong(opening ? opening->waited : 0),
	};
	const uint64_t place =
		opening && opening->code ? place_of_code(opening->code) : place_of_caller();
	bool goes_on = values[0] && values[1] && values[2];

	if (opening)
		opening_end(opening);
	goes_on = goes_on && point_record(span->exit, place, values, EXIT_FIELDS, NULL);
	for (int index = 0; index < EXIT_FIELDS; index++)
		Py_XDECREF(values[index]);
	return goes_on;
}

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
	struct span *span = (struct span *) self;
	PyObject *values[MOST_VALUES];
	struct opening *opening;
	Py_ssize_t count;

	(void) unused;
	if (point_is_wanted(span->entry)) {
		count = span->values ? PyTuple_Size(span->values) : 0;
		for (Py_ssize_t index = 0; index < count; index++)
			values[index] = PyTuple_GetItem(span->values, index);
		opening = enter(span, NULL, values, count, span->names);
		if (!opening)
			return NULL;
		/* It is held by its span's list until it ends. */
		Py_DECREF((PyObject *) opening);
	}
	Py_INCREF(self);
	return self;
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct span *span = (struct span *) self;
	struct opening *opening;
	bool goes_on;

	if (!point_is_wanted(span->exit))
		Py_RETURN_NONE;
	opening = opening_of(span);
	Py_XINCREF((PyObject *) opening);
	goes_on = leave(span, opening, count > 0 ? arguments[0] : NULL);
	Py_XDECREF((PyObject *) opening);
	if (!goes_on)
		return NULL;
	Py_RETURN_NONE;
}

/* Begin at a code object, with values; what is returned ends it. */
static PyObject *span_open(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct span *span = (struct span *) self;
	PyObject *values[MOST_VALUES];
	PyObject *names = NULL;

	if (count < 1)
		Py_RETURN_NONE;
	arguments++;
	count--;
	if (span->values) {
		/* Those of the decorator. */
		count = PyTuple_Size(span->values);
		names = span->names;
		for (Py_ssize_t index = 0; index < count; index++)
			values[index] = PyTuple_GetItem(span->values, index);
		return (PyObject *) enter(span, arguments[-1], values, count, names);
	}
	return (PyObject *) enter(span, arguments[-1], arguments, count, NULL);
}

static PyObject *span_leave(struct opening *opening, PyObject *failure)
{
	if (opening->is_ended)
		Py_RETURN_NONE;
	if (!leave(opening->span, opening, failure))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *new_span(PyTypeObject *type, PyObject *entry, PyObject *exit)
{
	const allocfunc allocate = (allocfunc) PyType_GetSlot(type, Py_tp_alloc);
	struct span *span = (struct span *) (void *) allocate(type, 0);

	if (!span)
		return NULL;
	Py_INCREF(entry);
	Py_INCREF(exit);
	span->entry = entry;
	span->exit = exit;
	return (PyObject *) span;
}

static bool keep_values(struct span *span, PyObject *const *arguments, Py_ssize_t all,
			PyObject *names)
{
	span->values = PyTuple_New(all);
	for (Py_ssize_t index = 0; span->values && index < all; index++) {
		Py_INCREF(arguments[index]);
		PyTuple_SetItem(span->values, index, arguments[index]);
	}
	Py_XINCREF(names);
	span->names = names;
	return span->values != NULL;
}

/* The same span with values for its fields; where they are not wanted, with none, and the
 * same one for all. */
static PyObject *span_with(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
			   PyObject *names)
{
	struct span *span = (struct span *) self;
	const Py_ssize_t all = count + (names ? PyTuple_Size(names) : 0);
	struct span *made;

	if (!point_is_wanted(span->entry) && span->idle) {
		Py_INCREF(span->idle);
		return span->idle;
	}
	made = (struct span *) (void *) new_span(Py_TYPE(self), span->entry, span->exit);
	if (!made)
		return NULL;
	if (!point_is_wanted(span->entry)) {
		made->values = PyTuple_New(0);
		/* It stays as long as the span. */
		Py_INCREF((PyObject *) made);
		span->idle = (PyObject *) made;
	} else if (!keep_values(made, arguments, all < MOST_VALUES ? all : MOST_VALUES,
				all <= MOST_VALUES ? names : NULL)) {
		Py_DECREF((PyObject *) made);
		return NULL;
	}
	return (PyObject *) made;
}

static PyObject *span_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	PyObject *entry, *exit;

	(void) keywords;
	if (!PyArg_ParseTuple(arguments, "O!O!", point_type, &entry, point_type, &exit))
		return NULL;
	return new_span(type, entry, exit);
}

static void span_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	const freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);
	struct span *span = (struct span *) self;

	Py_CLEAR(span->entry);
	Py_CLEAR(span->exit);
	Py_CLEAR(span->values);
	Py_CLEAR(span->names);
	Py_CLEAR(span->idle);
	release(self);
	Py_DECREF(type);
}

static PyObject *get_wanted(PyObject *self, void *closure)
{
	(void) closure;
	return PyBool_FromLong(point_is_wanted(((struct span *) self)->entry));
}

static PyObject *get_has_values(PyObject *self, void *closure)
{
	(void) closure;
	return PyBool_FromLong(((struct span *) self)->values != NULL);
}

static PyMethodDef methods[] = {
	{"__enter__", span_enter, METH_NOARGS, "Record the entry."},
	{"__exit__", (PyCFunction) (void (*)(void)) span_exit, METH_FASTCALL, "Record the exit."},
	{"_with", (PyCFunction) (void (*)(void)) span_with, METH_FASTCALL | METH_KEYWORDS,
	 "Return the span with values for its fields."},
	{"_open", (PyCFunction) (void (*)(void)) span_open, METH_FASTCALL,
	 "Begin at a code object, with values."},
	{NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
	{"entry", T_OBJECT_EX, offsetof(struct span, entry), READONLY, "The event of the entry."},
	{"exit", T_OBJECT_EX, offsetof(struct span, exit), READONLY, "The event of the exit."},
	{NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"is_wanted", get_wanted, NULL, "Whether its values are looked at.", NULL},
	{"has_values", get_has_values, NULL, "Whether it was given values.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_new, span_new},
	{Py_tp_dealloc, span_free},
	{Py_tp_methods, methods},
	{Py_tp_members, members},
	{Py_tp_getset, attributes},
	{Py_tp_doc, "What lies between two events."},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "vestige.instrument._native.Span",
	.basicsize = sizeof(struct span),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
	.slots = slots,
};

bool spans_start(PyObject *module)
{
	if (!span_type)
		span_type = (PyTypeObject *) PyType_FromSpec(&spec);
	return span_type && openings_start(span_leave) &&
		PyModule_AddObjectRef(module, "Span", (PyObject *) span_type) == 0;
}
