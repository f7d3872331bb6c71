/*
 * Calls from the interpreter's profiling hook, which each thread has of its own.
 *
 * See "Profiling and Tracing" in the Python/C API manual. The hook is the slowest way to
 * learn of calls, and the only one that tells of C functions before Python 3.12.
 */
#define _GNU_SOURCE
#include "profile.h"

#include <dlfcn.h>

#include "arguments.h"
#include "builtins.h"
#include "calls.h"
#include "frame_layout.h"
#include "places.h"

/* The same in all versions. */
enum {
	WHAT_CALL = 0,
	WHAT_RETURN = 3,
	WHAT_C_CALL = 4,
	WHAT_C_EXCEPTION = 5,
	WHAT_C_RETURN = 6,
};

/* Of the number of an instruction RESUME: 0 at the beginning of a function. */
#define RESUMED_MASK 3

typedef int (*hook)(PyObject *object, PyFrameObject *frame, int what, PyObject *argument);

static void (*set_profile)(hook function, PyObject *object);
/* Those of Python 3.11. */
static int (*set_profile_of)(PyThreadState *thread, hook function, PyObject *object);
static PyThreadState *(*first_thread)(PyInterpreterState *interpreter);
static PyThreadState *(*next_thread)(PyThreadState *thread);
static bool with_builtins;
/* Not in the limited API. */
static int (*get_instruction)(PyFrameObject *frame);
/* Whether frames are those of Python 3.11. */
static bool has_layout;
/* Calls that were entered here, and not left. All others were entered before there was a
 * hook, or are somebody else's matter. */
static __thread uint64_t depth FAST_THREAD_LOCAL;

static void enter(uint64_t place, const struct call_frame *frame)
{
	depth++;
	calls_enter(place, frame);
}

static void leave(uint64_t place, const struct call_end *end)
{
	if (!depth)
		return;
	depth--;
	calls_leave(place, end);
}

/* Whether a generator goes on: its last instruction says so. */
static bool is_resumed(PyFrameObject *frame, PyObject *code)
{
	const int last = get_instruction ? get_instruction(frame) : -1;
	PyObject *bytes = PyObject_GetAttrString(code, "co_code");
	bool is_one = false;

	if (bytes && PyBytes_Check(bytes) && last >= 0 && last + 1 < PyBytes_Size(bytes))
		is_one = PyBytes_AsString(bytes)[last + 1] & RESUMED_MASK;
	Py_XDECREF(bytes);
	PyErr_Clear();
	return is_one;
}

static void enter_function(PyFrameObject *frame)
{
	PyObject *code = (PyObject *) PyFrame_GetCode(frame);
	struct call_frame call = {.code = code, .object = frame, .has_cells = true};
	unsigned int kind;
	const uint64_t place = place_of_call(code, place_globals_of_frame, frame, &kind);
	bool has_arguments = arguments_are_recorded && place;

	if (has_arguments && kind & CODE_GENERATOR)
		has_arguments = !is_resumed(frame, code);
	if (has_arguments && has_layout)
		call.layout = frame_of_object(frame);
	enter(place, has_arguments ? &call : NULL);
	Py_DECREF(code);
}

/* Without a value, an exception ends it, which the hook does not tell of. */
static void leave_function(PyFrameObject *frame, PyObject *returned)
{
	PyObject *code = (PyObject *) PyFrame_GetCode(frame);
	const struct call_end end = {.returned = returned};
	unsigned int kind;
	const uint64_t place = place_of_call(code, place_globals_of_frame, frame, &kind);

	leave(place, &end);
	Py_DECREF(code);
}

static int on_event(PyObject *object, PyFrameObject *frame, int what, PyObject *argument)
{
	(void) object;
	switch (what) {
	case WHAT_CALL:
		enter_function(frame);
		break;
	case WHAT_RETURN:
		leave_function(frame, argument);
		break;
	case WHAT_C_CALL:
		if (with_builtins)
			enter(place_of_builtin(argument), NULL);
		break;
	case WHAT_C_EXCEPTION:
	case WHAT_C_RETURN:
		if (with_builtins)
			leave(place_of_builtin(argument), NULL);
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
#define STARTER(name)                                                                     \
	{name, (PyCFunction) (void (*)(void)) start_thread, METH_VARARGS | METH_KEYWORDS, \
	 "Start a new thread."}
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

bool profile_start(bool builtins)
{
	*(void **) &set_profile = dlsym(RTLD_DEFAULT, "PyEval_SetProfile");
	if (!set_profile)
		return false;
	with_builtins = builtins;
	has_layout = minor_version() == 11;
	*(void **) &get_instruction = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
	follow_threads();
	PyErr_Clear();
	set_profile(on_event, NULL);
	return true;
}

bool profile_can_take_over(void)
{
	*(void **) &set_profile_of = dlsym(RTLD_DEFAULT, "_PyEval_SetProfile");
	*(void **) &first_thread = dlsym(RTLD_DEFAULT, "PyInterpreterState_ThreadHead");
	*(void **) &next_thread = dlsym(RTLD_DEFAULT, "PyThreadState_Next");
	return set_profile_of && first_thread && next_thread;
}

void profile_take_over(void)
{
	PyObject *error_type, *error, *traceback;
	PyThreadState *thread = first_thread(PyInterpreterState_Get());

	PyErr_Fetch(&error_type, &error, &traceback);
	profile_start(false);
	for (; thread; thread = next_thread(thread))
		set_profile_of(thread, on_event, NULL);
	PyErr_Clear();
	PyErr_Restore(error_type, error, traceback);
}
