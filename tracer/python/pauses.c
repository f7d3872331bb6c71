/*
 * Pauses: collections of garbage, of which the interpreter tells functions in gc.callbacks.
 *
 * Both events are those of a span, so that whoever reads spans knows how long a pause was, and
 * what it was in.
 */
#include "pauses.h"

#include "openings.h"
#include "places.h"
#include "points.h"

#define START_FIELDS 4
#define STOP_FIELDS 5

static PyObject *entry_point;
static PyObject *exit_point;
/* The number of the one that is going on; there is never another one meanwhile. */
static uint64_t id;

/* A new reference to a value of the dictionary that says what happens. */
static PyObject *value_in(PyObject *facts, const char *key)
{
	PyObject *value = PyDict_Check(facts) ? PyDict_GetItemString(facts, key) : NULL;

	if (!value)
		value = Py_None;
	Py_INCREF(value);
	return value;
}

static void record(PyObject *point, PyObject *const *values, Py_ssize_t count)
{
	bool is_complete = true;

	for (Py_ssize_t index = 0; index < count; index++)
		is_complete = is_complete && values[index];
	if (!is_complete || !point_record(point, place_of_caller(), values, count, NULL))
		PyErr_Clear();
	for (Py_ssize_t index = 0; index < count; index++)
		Py_XDECREF(values[index]);
}

static void begin(PyObject *facts)
{
	PyObject *values[START_FIELDS];

	id = opening_new_id();
	values[0] = PyLong_FromUnsignedLongLong(id);
	values[1] = PyLong_FromUnsignedLongLong(opening_id_of_context());
	values[2] = PyUnicode_FromString("");
	values[3] = value_in(facts, "generation");
	record(entry_point, values, START_FIELDS);
}

static void end(PyObject *facts)
{
	PyObject *const values[STOP_FIELDS] = {
		PyLong_FromUnsignedLongLong(id),
		PyUnicode_FromString(""),
		PyLong_FromLong(0),
		value_in(facts, "collected"),
		value_in(facts, "uncollectable"),
	};

	id = 0;
	record(exit_point, values, STOP_FIELDS);
}

/* The arguments: "start" or "stop", and a dictionary. */
static PyObject *on_collection(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	if (count == 2 && PyUnicode_Check(arguments[0])) {
		if (PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0)
			begin(arguments[1]);
		else if (id)
			end(arguments[1]);
	}
	Py_RETURN_NONE;
}

PyObject *pauses_follow(PyObject *module, PyObject *arguments)
{
	static PyMethodDef method = {"on_collection",
				     (PyCFunction) (void (*)(void)) on_collection, METH_FASTCALL,
				     "Record that a collection of garbage begins or ends."};
	PyObject *entry, *exit, *callbacks, *callback;
	int is_failed;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "O!O!O!", point_type, &entry, point_type, &exit,
			      &PyList_Type, &callbacks))
		return NULL;
	/* The module may be there twice, with different names. */
	if (entry_point)
		Py_RETURN_NONE;
	Py_INCREF(entry);
	Py_INCREF(exit);
	entry_point = entry;
	exit_point = exit;
	callback = PyCFunction_NewEx(&method, NULL, NULL);
	is_failed = !callback || PyList_Append(callbacks, callback) != 0;
	Py_XDECREF(callback);
	if (is_failed)
		return NULL;
	Py_RETURN_NONE;
}
