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
	const uint64_t place = code ? place_of_code(code) : point_place_of_caller(span->entry);
	struct value own[OPENING_FIELDS];
	PyObject *task;
	bool goes_on;

	if (!opening)
		return NULL;
	task = opening_values(opening, own);
	if (count > MOST_VALUES)
		count = MOST_VALUES;
	goes_on = point_record_behind(span->entry, place, own, OPENING_FIELDS, given,
				      count - (names ? PyTuple_Size(names) : 0), names);
	Py_XDECREF(own[OPENING_FIELDS - 1].owned);
	Py_XDECREF(task);
	if (goes_on)
		return opening;
	opening_end(opening);
	Py_DECREF((PyObject *) opening);
	return NULL;
}

/* The name of an exception's type; empty for none. What is returned holds it. */
static PyObject *read_failure(struct value *value, PyObject *failure)
{
	PyObject *name = NULL;

	if (failure && PyType_Check(failure))
		name = PyType_GetName((PyTypeObject *) failure);
	value_read_text(value, name);
	return name;
}

/* Record the exit of an opening that is this one's or the context's. */
static bool leave(struct span *span, struct opening *opening, PyObject *failure)
{
	const uint64_t place = opening && opening->code ? place_of_code(opening->code)
							: point_place_of_caller(span->exit);
	struct value own[EXIT_FIELDS];
	PyObject *name;
	bool goes_on;

	value_set_int(&own[0], opening ? (int64_t) opening->id : 0);
	name = read_failure(&own[1], failure);
	value_set_int(&own[2], opening ? opening->waited : 0);
	if (opening)
		opening_end(opening);
	goes_on = point_record_behind(span->exit, place, own, EXIT_FIELDS, NULL, 0, NULL);
	Py_XDECREF(own[1].owned);
	Py_XDECREF(name);
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
