/*
 * Calls of Python functions: entries and exits, from the interpreter's profiling hook.
 *
 * A generator is entered each time it goes on, and left each time it yields. What raises an
 * exception is left, too.
 */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>

/* What happened, see "Profiling and Tracing" in the Python/C API manual: the same in all
 * versions. */
enum {
	WHAT_CALL = 0,
	WHAT_RETURN = 3,
	WHAT_C_CALL = 4,
	WHAT_C_EXCEPTION = 5,
	WHAT_C_RETURN = 6,
};

#define MOST_EARLY 64

typedef int (*hook)(PyObject *object, PyFrameObject *frame, int what, PyObject *argument);

static const struct vestige_field fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
};

static struct own_event entry_event;
static struct own_event exit_event;
static void (*set_profile)(hook function, PyObject *object);
static bool with_builtins;
/* Functions that were entered before there was a hook, until they are left. */
static PyObject *early[MOST_EARLY];
static int early_count;

static void record_place(const struct own_event *event, uint64_t place)
{
	struct vestige_record record;

	if (!place || !tracer->begin(&event->event, &record, PLACE_SIZE,
				     (const void *) (uintptr_t) place))
		return;
	put_place(&record, place);
	tracer->commit(&record);
}

static uint64_t place_of_function(PyFrameObject *frame)
{
	PyObject *code = (PyObject *) PyFrame_GetCode(frame);
	const uint64_t place = place_of_code(code);

	Py_DECREF(code);
	return place;
}

static __attribute__((noinline, cold)) bool is_early(PyFrameObject *frame)
{
	for (int index = 0; index < early_count; index++) {
		if (early[index] != (PyObject *) frame)
			continue;
		Py_DECREF(early[index]);
		early[index] = early[--early_count];
		return true;
	}
	return false;
}

static int on_event(PyObject *object, PyFrameObject *frame, int what, PyObject *argument)
{
	(void) object;
	switch (what) {
	case WHAT_CALL:
		record_place(&entry_event, place_of_function(frame));
		break;
	case WHAT_RETURN:
		if (LIKELY(!early_count) || !is_early(frame))
			record_place(&exit_event, place_of_function(frame));
		break;
	case WHAT_C_CALL:
		if (with_builtins)
			record_place(&entry_event, place_of_builtin(argument));
		break;
	case WHAT_C_EXCEPTION:
	case WHAT_C_RETURN:
		if (with_builtins)
			record_place(&exit_event, place_of_builtin(argument));
		break;
	default:
		break;
	}
	return 0;
}

/* --- threads: each has a hook of its own --- */

struct thread_start {
	PyObject_HEAD
	PyObject *function;
};

static PyObject *thread_type;

static PyObject *thread_call(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	set_profile(on_event, NULL);
	return PyObject_Call(((struct thread_start *) self)->function, arguments, keywords);
}

/* For the message that a thread has ended with an exception. */
static PyObject *thread_repr(PyObject *self)
{
	return PyObject_Repr(((struct thread_start *) self)->function);
}

static void thread_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	const freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);

	Py_CLEAR(((struct thread_start *) self)->function);
	release(self);
	Py_DECREF(type);
}

static PyType_Slot thread_slots[] = {
	{Py_tp_call, thread_call},
	{Py_tp_repr, thread_repr},
	{Py_tp_dealloc, thread_free},
	{0, NULL},
};

static PyType_Spec thread_spec = {
	.name = "vestige.instrument._native.ThreadStart",
	.basicsize = sizeof(struct thread_start),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = thread_slots,
};

static PyObject *thread_start_of(PyObject *function)
{
	PyTypeObject *type = (PyTypeObject *) thread_type;
	const allocfunc allocate = (allocfunc) PyType_GetSlot(type, Py_tp_alloc);
	struct thread_start *start = (struct thread_start *) (void *) allocate(type, 0);

	if (!start)
		return NULL;
	Py_INCREF(function);
	start->function = function;
	return (PyObject *) start;
}

/* In place of a function that starts threads, which is `self`: the first argument is what
 * the thread runs. */
static PyObject *start_thread(PyObject *self, PyObject *arguments, PyObject *keywords)
{
	PyObject *result, *start, *function;
	PyObject *changed = NULL;

	function = PyTuple_Size(arguments) > 0 ? PyTuple_GetItem(arguments, 0) : NULL;
	if (!function || !PyCallable_Check(function))
		return PyObject_Call(self, arguments, keywords);
	start = thread_start_of(function);
	changed = start ? PyTuple_New(PyTuple_Size(arguments)) : NULL;
	if (!changed) {
		Py_XDECREF(start);
		return NULL;
	}
	PyTuple_SetItem(changed, 0, start);
	for (Py_ssize_t index = 1; index < PyTuple_Size(arguments); index++) {
		PyObject *argument = PyTuple_GetItem(arguments, index);

		Py_INCREF(argument);
		PyTuple_SetItem(changed, index, argument);
	}
	result = PyObject_Call(self, changed, keywords);
	Py_DECREF(changed);
	return result;
}

static void replace_starter(PyObject *module, const char *attribute, PyMethodDef *method)
{
	PyObject *known = PyObject_GetAttrString(module, attribute);
	PyObject *made;

	if (known && PyCFunction_Check(known)) {
		made = PyCFunction_NewEx(method, known, NULL);
		if (made)
			PyObject_SetAttrString(module, attribute, made);
		Py_XDECREF(made);
	}
	Py_XDECREF(known);
	PyErr_Clear();
}

static void follow_threads(void)
{
#define STARTER(name) {name, (PyCFunction) (void (*)(void)) start_thread, \
		       METH_VARARGS | METH_KEYWORDS, "Start a new thread."}
	static PyMethodDef new_thread = STARTER("start_new_thread");
	static PyMethodDef joinable_thread = STARTER("start_joinable_thread");
	PyObject *modules = PyImport_GetModuleDict();
	PyObject *threading = modules ? PyDict_GetItemString(modules, "threading") : NULL;
	PyObject *thread = PyImport_ImportModule("_thread");

	thread_type = PyType_FromSpec(&thread_spec);
	if (!thread || !thread_type)
		return;
	replace_starter(thread, "start_new_thread", &new_thread);
	replace_starter(thread, "start_new", &new_thread);
	replace_starter(thread, "start_joinable_thread", &joinable_thread);
	if (threading) {
		replace_starter(threading, "_start_new_thread", &new_thread);
		replace_starter(threading, "_start_joinable_thread", &joinable_thread);
	}
	Py_DECREF(thread);
}

/* --- the beginning --- */

static void note_early(void)
{
	PyObject *frame = (PyObject *) PyEval_GetFrame();

	Py_XINCREF(frame);
	while (frame && frame != Py_None && early_count < MOST_EARLY) {
		early[early_count++] = frame;
		frame = PyObject_GetAttrString(frame, "f_back");
	}
	Py_XDECREF(frame);
	PyErr_Clear();
}

PyObject *calls_trace(PyObject *module, PyObject *builtins)
{
	(void) module;
	*(void **) &set_profile = dlsym(RTLD_DEFAULT, "PyEval_SetProfile");
	if (!tracer || !set_profile || set_profile == NULL || entry_event.provider.name)
		Py_RETURN_FALSE;
	with_builtins = PyObject_IsTrue(builtins) == 1;
	event_define(&entry_event, "vestige_python", "func_entry", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_ENTRY);
	event_define(&exit_event, "vestige_python", "func_exit", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_EXIT);
	if (!event_is_recorded(&entry_event) || !event_is_recorded(&exit_event))
		Py_RETURN_FALSE;
	follow_threads();
	note_early();
	PyErr_Clear();
	set_profile(on_event, NULL);
	Py_RETURN_TRUE;
}
