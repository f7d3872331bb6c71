/*
 * Calls in greenlets: stacks of calls that a thread changes between.
 *
 * What a greenlet has called is left when the thread goes to another one, and resumed
 * when it comes back, as the steps of coroutines are; so the calls of a thread nest whatever
 * it runs. The main greenlet is where the others are run from: its calls stay open meanwhile.
 */
#include "greenlets.h"

#include <stdlib.h>

#include "call_events.h"
#include "event.h"
#include "places.h"
#include "stacks.h"

#define FIRST_CALLS 16u
#define MOST_CALLS (1u << 20)

struct call {
	uint64_t place;
	const void *id;
};

/* The calls of a greenlet that are open. */
struct fiber {
	struct call *calls;
	uint32_t count;
	uint32_t size;
	uint16_t generation;
};

bool greenlets_are_followed;
/* What is asked for in each thread, and what a greenlet says of itself. */
static PyObject *set_trace;
static PyObject *dead_attribute;
static PyObject *parent_attribute;
static PyObject *callback;
/* Those that do not run, by the addresses of their objects. */
static PyObject *waiting;
static uint64_t last_id;
static __thread struct fiber *running FAST_THREAD_LOCAL;
static __thread bool is_traced FAST_THREAD_LOCAL;
/* The program's own function for this. */
static __thread PyObject *next_callback FAST_THREAD_LOCAL;

/* --- the calls of one --- */

static void forget_parent(struct fiber *fiber)
{
	/* In a child process they are the parent's, and their places are not explained. */
	if (fiber->generation != place_generation)
		fiber->count = 0;
	fiber->generation = place_generation;
}

static bool push(struct fiber *fiber, struct call call)
{
	if (fiber->count == fiber->size) {
		const uint32_t size = fiber->size ? 2 * fiber->size : FIRST_CALLS;
		struct call *calls =
			size > MOST_CALLS ? NULL : realloc(fiber->calls, size * sizeof(*calls));

		if (!calls)
			return false;
		fiber->calls = calls;
		fiber->size = size;
	}
	fiber->calls[fiber->count++] = call;
	return true;
}

static void suspend(const struct fiber *fiber)
{
	for (uint32_t index = fiber->count; index; index--)
		calls_write_step_exit(fiber->calls[index - 1].place, fiber->calls[index - 1].id,
				      true, NULL);
}

static void resume(const struct fiber *fiber)
{
	for (uint32_t index = 0; index < fiber->count; index++)
		calls_write_step_entry(fiber->calls[index].place, fiber->calls[index].id, true,
				       NULL);
}

static void free_fiber(struct fiber *fiber)
{
	free(fiber->calls);
	free(fiber);
}

/* --- which one runs --- */

/* An attribute as the type has it, whatever the program's own types make of it. */
static PyObject *ask(PyObject *attribute, PyObject *greenlet)
{
	PyObject *value = PyObject_CallMethod(attribute, "__get__", "O", greenlet);

	PyErr_Clear();
	return value;
}

static bool is_dead(PyObject *greenlet)
{
	PyObject *value = ask(dead_attribute, greenlet);
	const bool is_true = value == Py_True;

	Py_XDECREF(value);
	return is_true;
}

static bool is_main(PyObject *greenlet)
{
	PyObject *value = ask(parent_attribute, greenlet);
	const bool is_none = value == Py_None;

	Py_XDECREF(value);
	return is_none;
}

static struct fiber *take(PyObject *greenlet)
{
	PyObject *key = PyLong_FromVoidPtr(greenlet);
	PyObject *value = key ? PyDict_GetItem(waiting, key) : NULL;
	struct fiber *fiber = value ? PyLong_AsVoidPtr(value) : NULL;

	if (fiber)
		PyDict_DelItem(waiting, key);
	Py_XDECREF(key);
	if (!fiber && !is_main(greenlet))
		fiber = calloc(1, sizeof(*fiber));
	PyErr_Clear();
	return fiber;
}

static void put_away(PyObject *greenlet, struct fiber *fiber)
{
	PyObject *key = PyLong_FromVoidPtr(greenlet);
	PyObject *value = PyLong_FromVoidPtr(fiber);

	if (is_dead(greenlet) || !key || !value || PyDict_SetItem(waiting, key, value) != 0)
		free_fiber(fiber);
	Py_XDECREF(key);
	Py_XDECREF(value);
	PyErr_Clear();
}

static void change(PyObject *origin, PyObject *target)
{
	struct fiber *before = running;

	running = NULL;
	if (before) {
		forget_parent(before);
		suspend(before);
		put_away(origin, before);
	}
	running = take(target);
	if (running) {
		forget_parent(running);
		resume(running);
	}
}

/* The arguments: what happens, which is always a change, and both greenlets. */
static PyObject *on_change(PyObject *self, PyObject *arguments)
{
	PyObject *error_type, *error, *traceback, *pair, *own, *result;

	(void) self;
	pair = PyTuple_Size(arguments) == 2 ? PyTuple_GetItem(arguments, 1) : NULL;
	PyErr_Fetch(&error_type, &error, &traceback);
	if (pair && PyTuple_Check(pair) && PyTuple_Size(pair) == 2)
		change(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1));
	PyErr_Restore(error_type, error, traceback);
	own = next_callback;
	if (!own)
		Py_RETURN_NONE;
	Py_INCREF(own);
	result = PyObject_Call(own, arguments, NULL);
	if (!result) {
		/* The library forgets a function that fails, and ours with it. */
		Py_CLEAR(next_callback);
		is_traced = false;
	}
	Py_DECREF(own);
	return result;
}

/* --- threads: each has a function of its own --- */

static __attribute__((noinline, cold)) void trace_thread(void)
{
	PyObject *error_type, *error, *traceback, *before;

	is_traced = true;
	PyErr_Fetch(&error_type, &error, &traceback);
	before = PyObject_CallFunctionObjArgs(set_trace, callback, NULL);
	if (before && before != Py_None && before != callback) {
		Py_XDECREF(next_callback);
		next_callback = before;
		before = NULL;
	}
	Py_XDECREF(before);
	PyErr_Clear();
	PyErr_Restore(error_type, error, traceback);
}

/* What the program finds in place of the library's functions: both may be traced. */
static PyObject *program_settrace(PyObject *self, PyObject *function)
{
	PyObject *before;

	(void) self;
	if (!is_traced)
		trace_thread();
	before = next_callback;
	next_callback = NULL;
	if (function != Py_None) {
		Py_INCREF(function);
		next_callback = function;
	}
	if (before)
		return before;
	Py_RETURN_NONE;
}

static PyObject *program_gettrace(PyObject *self, PyObject *none)
{
	PyObject *function = next_callback ? next_callback : Py_None;

	(void) self;
	(void) none;
	Py_INCREF(function);
	return function;
}

/* --- the beginning --- */

static PyMethodDef on_change_method = {"on_change", on_change, METH_VARARGS, NULL};
static PyMethodDef settrace_method = {"settrace", program_settrace, METH_O, NULL};
static PyMethodDef gettrace_method = {"gettrace", program_gettrace, METH_NOARGS, NULL};

static bool replace(PyObject *module, PyMethodDef *method)
{
	PyObject *made = PyCFunction_NewEx(method, NULL, NULL);
	const bool is_done = made && PyObject_SetAttrString(module, method->ml_name, made) == 0;

	Py_XDECREF(made);
	return is_done;
}

PyObject *greenlets_follow(PyObject *module, PyObject *greenlet)
{
	PyObject *type = PyObject_GetAttrString(greenlet, "greenlet");

	(void) module;
	if (type && !greenlets_are_followed) {
		set_trace = PyObject_GetAttrString(greenlet, "settrace");
		dead_attribute = PyObject_GetAttrString(type, "dead");
		parent_attribute = PyObject_GetAttrString(type, "parent");
		callback = PyCFunction_NewEx(&on_change_method, NULL, NULL);
		waiting = PyDict_New();
		greenlets_are_followed = !PyErr_Occurred() && set_trace && dead_attribute &&
			parent_attribute && callback && waiting &&
			replace(greenlet, &settrace_method) &&
			replace(greenlet, &gettrace_method);
	}
	Py_XDECREF(type);
	PyErr_Clear();
	if (!greenlets_are_followed)
		calls_say_not_recorded("the calls of greenlets",
				       "this version of greenlet tells of no changes: times of "
				       "functions in greenlets are wrong");
	Py_RETURN_NONE;
}

bool greenlets_enter(uint64_t place, const void *id, bool is_resumed,
		     const struct call_frame *frame)
{
	if (UNLIKELY(!is_traced))
		trace_thread();
	if (!running)
		return false;
	forget_parent(running);
	/* No address has this bit. */
	if (!id)
		id = (const void *) (uintptr_t) (++last_id | UINT64_C(1) << 63);
	if (place && push(running, (struct call) {place, id}))
		calls_write_step_entry(place, id, is_resumed, frame);
	return true;
}

bool greenlets_leave(uint64_t place, bool is_suspended, const struct call_end *end)
{
	struct fiber *fiber = running;

	if (!fiber)
		return false;
	forget_parent(fiber);
	/* Others were entered before a fork. */
	if (place && fiber->count) {
		fiber->count--;
		calls_write_step_exit(place, fiber->calls[fiber->count].id, is_suspended, end);
	}
	return true;
}
