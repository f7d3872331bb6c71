/* Calls from sys.monitoring (PEP 669), in Python 3.12 and later: it holds for all threads. */
#include "monitoring.h"

#include "arguments.h"
#include "builtins.h"
#include "calls.h"
#include "places.h"

/* Neither those that sys.monitoring names after debuggers and profilers, nor the two that
 * sys.settrace() and sys.setprofile() have: the program may use all of these. */
#define FIRST_TOOL 3
#define LAST_TOOL 4

/* Calls that were entered here, and not left: others were entered before. */
static __thread uint64_t depth FAST_THREAD_LOCAL;
/* What a callback returns for a place that it wants to hear of no more. */
static PyObject *disable;

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

/* The frame of a coroutine is always the same object. False when the function is left out. */
static bool enter_code(PyObject *code, bool is_resumed)
{
	struct call_frame frame = {.code = code};
	unsigned int kind;
	const uint64_t place = place_of_call(code, place_globals_of_frame, NULL, &kind);

	if (kind & CODE_LEFT_OUT)
		return false;
	/* To ask for the frame makes an object of it. */
	if (place && (kind & CODE_COROUTINE || (arguments_are_recorded && !is_resumed)))
		frame.object = PyEval_GetFrame();
	if (!(kind & CODE_COROUTINE) || !place) {
		enter(place, is_resumed ? NULL : &frame);
		return true;
	}
	depth++;
	calls_enter_step(place, frame.object, is_resumed, &frame);
	return true;
}

static bool leave_code(PyObject *code, bool is_suspended, const struct call_end *end)
{
	unsigned int kind;
	const uint64_t place = place_of_call(code, place_globals_of_frame, NULL, &kind);

	if (kind & CODE_LEFT_OUT)
		return false;
	if (!(kind & CODE_COROUTINE) || !place) {
		leave(place, end);
	} else if (depth) {
		depth--;
		calls_leave_step(place, PyEval_GetFrame(), is_suspended, end);
	}
	return true;
}

/* What sys.monitoring is told: whether the event is wanted again at this place. */
static PyObject *answer(bool is_wanted)
{
	PyObject *result = is_wanted || !disable ? Py_None : disable;

	Py_INCREF(result);
	return result;
}

/* The first argument is the code object. */
static PyObject *on_start(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	return answer(count < 1 || enter_code(arguments[0], false));
}

static PyObject *on_resume(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	return answer(count < 1 || enter_code(arguments[0], true));
}

/* The third is what is returned. */
static bool leave_with(PyObject *const *arguments, Py_ssize_t count, bool is_suspended)
{
	const struct call_end end = {.returned = count > 2 ? arguments[2] : NULL};

	return leave_code(arguments[0], is_suspended, &end);
}

static PyObject *on_return(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	return answer(count < 1 || leave_with(arguments, count, false));
}

static PyObject *on_yield(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	return answer(count < 1 || leave_with(arguments, count, true));
}

/* Exceptions are no matter of single places, and their events cannot be refused. */
static PyObject *on_throw(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	(void) self;
	if (count > 0)
		enter_code(arguments[0], true);
	Py_RETURN_NONE;
}

static PyObject *on_unwind(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	struct call_end end = {NULL, NULL};

	(void) self;
	if (count > 2)
		end.raised = (PyObject *) Py_TYPE(arguments[2]);
	if (count > 0)
		leave_code(arguments[0], false, &end);
	Py_RETURN_NONE;
}

/* The third is what is called, which may be anything; only C functions are left, too. */
static PyObject *on_call(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	const uint64_t place = count > 2 ? place_of_builtin(arguments[2]) : 0;

	(void) self;
	if (place)
		enter(place, NULL);
	Py_RETURN_NONE;
}

static PyObject *on_c_leave(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	const uint64_t place = count > 2 ? place_of_builtin(arguments[2]) : 0;

	(void) self;
	if (place)
		leave(place, NULL);
	Py_RETURN_NONE;
}

#define CALLBACK(name, function) \
	{name, (PyCFunction) (void (*)(void)) function, METH_FASTCALL, NULL}

/* Each is named after its event. */
static PyMethodDef callbacks[] = {
	CALLBACK("PY_START", on_start), CALLBACK("PY_RESUME", on_resume),
	CALLBACK("PY_THROW", on_throw), CALLBACK("PY_RETURN", on_return),
	CALLBACK("PY_YIELD", on_yield), CALLBACK("PY_UNWIND", on_unwind),
};
static PyMethodDef builtin_callbacks[] = {
	CALLBACK("CALL", on_call),
	CALLBACK("C_RETURN", on_c_leave),
	CALLBACK("C_RAISE", on_c_leave),
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool add(PyObject *monitoring, PyObject *events, int tool, PyMethodDef *callback,
		long *chosen)
{
	PyObject *event = PyObject_GetAttrString(events, callback->ml_name);
	PyObject *function = PyCFunction_NewEx(callback, NULL, NULL);
	PyObject *result = NULL;

	if (event && function) {
		*chosen |= PyLong_AsLong(event);
		result = PyObject_CallMethod(monitoring, "register_callback", "iOO", tool, event,
					     function);
	}
	Py_XDECREF(event);
	Py_XDECREF(function);
	Py_XDECREF(result);
	return result != NULL;
}

static bool use(PyObject *monitoring, int tool, bool builtins)
{
	PyObject *events = PyObject_GetAttrString(monitoring, "events");
	PyObject *result = NULL;
	bool is_right = events != NULL;
	long chosen = 0;

	for (size_t index = 0; is_right && index < COUNT(callbacks); index++)
		is_right = add(monitoring, events, tool, &callbacks[index], &chosen);
	for (size_t index = 0; is_right && builtins && index < COUNT(builtin_callbacks); index++)
		is_right = add(monitoring, events, tool, &builtin_callbacks[index], &chosen);
	if (is_right)
		result = PyObject_CallMethod(monitoring, "set_events", "il", tool, chosen);
	Py_XDECREF(events);
	Py_XDECREF(result);
	return result != NULL;
}

bool monitoring_start(bool builtins)
{
	PyObject *monitoring = PySys_GetObject("monitoring");

	disable = monitoring ? PyObject_GetAttrString(monitoring, "DISABLE") : NULL;
	PyErr_Clear();
	for (int tool = FIRST_TOOL; monitoring && tool <= LAST_TOOL; tool++) {
		PyObject *result =
			PyObject_CallMethod(monitoring, "use_tool_id", "is", tool, "vestige");

		if (!result) {
			PyErr_Clear();
			continue;
		}
		Py_DECREF(result);
		if (use(monitoring, tool, builtins))
			return true;
		PyErr_Clear();
	}
	return false;
}
