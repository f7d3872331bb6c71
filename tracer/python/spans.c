/* Spans: what lies between two events, in a with statement. */
#include "native.h"

#include <stddef.h>
#include <structmember.h>

struct span {
	PyObject_HEAD
	PyObject *entry;
	PyObject *exit;
	/* The values of the entry's fields, and the names of the last of them; or NULL. */
	PyObject *values;
	PyObject *names;
};

#define MOST_VALUES 64

static PyObject *span_enter(PyObject *self, PyObject *unused)
{
	const struct span *span = (struct span *) self;
	PyObject *values[MOST_VALUES];
	Py_ssize_t count, named;

	(void) unused;
	if (point_is_recorded(span->entry)) {
		count = span->values ? PyTuple_Size(span->values) : 0;
		named = span->names ? PyTuple_Size(span->names) : 0;
		for (Py_ssize_t index = 0; index < count; index++)
			values[index] = PyTuple_GetItem(span->values, index);
		point_record(span->entry, place_of_caller(), values, count - named, span->names);
	}
	Py_INCREF(self);
	return self;
}

static PyObject *span_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	const struct span *span = (struct span *) self;

	(void) arguments;
	(void) count;
	if (point_is_recorded(span->exit))
		point_record(span->exit, place_of_caller(), NULL, 0, NULL);
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

/* The same span with values for its fields. */
static PyObject *span_with(PyObject *self, PyObject *const *arguments, Py_ssize_t count,
			   PyObject *names)
{
	const struct span *span = (struct span *) self;
	const Py_ssize_t all = count + (names ? PyTuple_Size(names) : 0);
	struct span *made;

	if (!point_is_recorded(span->entry) || all > MOST_VALUES) {
		Py_INCREF(self);
		return self;
	}
	made = (struct span *) (void *) new_span(Py_TYPE(self), span->entry, span->exit);
	if (!made)
		return NULL;
	made->values = PyTuple_New(all);
	for (Py_ssize_t index = 0; made->values && index < all; index++) {
		Py_INCREF(arguments[index]);
		PyTuple_SetItem(made->values, index, arguments[index]);
	}
	Py_XINCREF(names);
	made->names = names;
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
	release(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{"__enter__", span_enter, METH_NOARGS, "Record the entry."},
	{"__exit__", (PyCFunction) (void (*)(void)) span_exit, METH_FASTCALL, "Record the exit."},
	{"_with", (PyCFunction) (void (*)(void)) span_with, METH_FASTCALL | METH_KEYWORDS,
	 "Return the span with values for its fields."},
	{NULL, NULL, 0, NULL},
};

static PyMemberDef members[] = {
	{"entry", T_OBJECT_EX, offsetof(struct span, entry), READONLY, "The event of the entry."},
	{"exit", T_OBJECT_EX, offsetof(struct span, exit), READONLY, "The event of the exit."},
	{NULL, 0, 0, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_new, span_new},
	{Py_tp_dealloc, span_free},
	{Py_tp_methods, methods},
	{Py_tp_members, members},
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
	static PyObject *type;

	if (!type)
		type = PyType_FromSpec(&spec);
	return type && PyModule_AddObjectRef(module, "Span", type) == 0;
}
