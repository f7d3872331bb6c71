/* Places of functions that are written in C, by the function and what it is bound to. */
#include "builtins.h"

#include "choice.h"
#include "places.h"

#define SLOTS 16384u
#define TRIES 16u

static struct {
	const void *function;
	const void *owner;
	uint64_t place;
	uint16_t generation;
} known[SLOTS];

static bool is_descriptor(PyObject *function)
{
	return Py_TYPE(function) == &PyMethodDescr_Type ||
		Py_TYPE(function) == &PyClassMethodDescr_Type;
}

/* What tells apart the functions that share one C function: `__new__` of all types, and
 * those that libraries like pybind11 make. */
static const void *owner_of(PyObject *function)
{
	PyObject *self = PyCFunction_GetSelf(function);

	if (!self)
		PyErr_Clear();
	return self && (PyType_Check(self) || PyCapsule_CheckExact(self)) ? self : NULL;
}

static size_t slot_of(const void *function, const void *owner)
{
	const uint64_t mixed =
		((uintptr_t) function ^ (uintptr_t) owner * 31) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t) (mixed >> 40);
}

static PyObject *text_of(PyObject *object, const char *attribute)
{
	PyObject *text = PyObject_GetAttrString(object, attribute);

	if (text && !PyUnicode_Check(text))
		Py_CLEAR(text);
	PyErr_Clear();
	return text;
}

/* `name` or `module.name`; what is in the module builtins goes without. Without a place
 * until then, a function gets one if it is to be recorded. */
static uint64_t introduce(PyObject *function, uint64_t place)
{
	PyObject *error_type, *error, *traceback, *module, *name, *whole;

	PyErr_Fetch(&error_type, &error, &traceback);
	module = text_of(function, "__module__");
	name = text_of(function, "__qualname__");
	if (!place && choice_takes_builtin(module, name))
		place = place_new();
	if (module && name && PyUnicode_CompareWithASCIIString(module, "builtins") != 0)
		whole = PyUnicode_FromFormat("%U.%U", module, name);
	else
		whole = PyUnicode_FromFormat("%U", name ? name : Py_None);
	if (!module)
		module = PyUnicode_FromString("builtins");
	if (place)
		place_explain(place, module, whole, 0);
	Py_XDECREF(module);
	Py_XDECREF(name);
	Py_XDECREF(whole);
	PyErr_Clear();
	PyErr_Restore(error_type, error, traceback);
	return place;
}

uint64_t place_of_builtin(PyObject *function)
{
	const void *code, *owner;

	if (function && PyCFunction_Check(function)) {
		code = (const void *) (uintptr_t) PyCFunction_GetFunction(function);
		owner = owner_of(function);
	} else if (function && is_descriptor(function)) {
		/* Before it is bound, which sys.monitoring tells of. */
		code = function;
		owner = NULL;
	} else {
		return 0;
	}
	for (size_t probe = 0; probe < TRIES; probe++) {
		const size_t slot = (slot_of(code, owner) + probe) % SLOTS;

		if (known[slot].function &&
		    (known[slot].function != code || known[slot].owner != owner))
			continue;
		if (LIKELY(known[slot].function && known[slot].generation == place_generation))
			return known[slot].place;
		/* No other one may come to its address. */
		if (!known[slot].function && code == function)
			Py_INCREF(function);
		known[slot].function = code;
		known[slot].owner = owner;
		known[slot].generation = place_generation;
		known[slot].place = introduce(function, known[slot].place);
		return known[slot].place;
	}
	return 0;
}
