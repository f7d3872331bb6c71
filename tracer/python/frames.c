/*
 * Calls from the function that evaluates frames (PEP 523), in Python 3.11.
 *
 * It costs a sixth of the profiling hook, and holds for all threads.
 *
 * The interpreter calls itself for each Python function then, as it did up to Python 3.10,
 * and deep recursion needs stack. Before that gets scarce, the profiling hook takes over.
 */
#define _GNU_SOURCE
#include "frames.h"

#include <dlfcn.h>
#include <pthread.h>

#include "calls.h"
#include "frame_layout.h"
#include "places.h"
#include "profile.h"

#define RETURN_GENERATOR 75
/* The frame of a generator is a part of it: its state is before that. */
#define STATE_OFFSET (-5)
#define STATE_SUSPENDED (-1)
/* The part of a thread's stack that may be used before the hook takes over. */
#define STACK_SHARE 4

typedef PyObject *(*evaluator)(PyThreadState *thread, struct frame *frame, int throw);

static void (*set_evaluator)(PyInterpreterState *interpreter, evaluator function);
static evaluator evaluate_by_default;
static PyObject *probed_code;
static PyObject *probed_globals;
static bool is_as_known;
/* Steps of generators that look as they should: it begins, waits, goes on, and ends. */
static unsigned int known_steps;
#define ALL_STEPS 4u
/* Between these addresses there is enough stack. */
static __thread const char *stack_low FAST_THREAD_LOCAL;
static __thread const char *stack_high FAST_THREAD_LOCAL;

static PyObject *globals_of(const void *frame)
{
	return *(PyObject *const *) (const void *) ((const char *) frame + GLOBALS_OFFSET);
}

/* Whether a generator has waited before; else it has only been made. */
static inline bool is_resumed(const struct frame *frame)
{
	const unsigned char *instruction =
		*(const unsigned char *const *) (const void *) ((const char *) frame +
								INSTRUCTION_OFFSET);

	return *instruction != RETURN_GENERATOR;
}

static inline bool is_suspended(const struct frame *frame)
{
	return ((const signed char *) frame)[STATE_OFFSET] == STATE_SUSPENDED;
}

static __attribute__((noinline, cold)) void find_stack(void)
{
	pthread_attr_t attributes;
	void *start = NULL;
	size_t size = 0;

	stack_low = stack_high = (const char *) &attributes;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
		stack_high = (const char *) start + size;
		stack_low = stack_high - size / STACK_SHARE;
	}
	pthread_attr_destroy(&attributes);
}

static inline bool has_stack(void)
{
	const char *here = __builtin_frame_address(0);

	if (UNLIKELY(!stack_high))
		find_stack();
	return here > stack_low && here < stack_high;
}

static inline void enter(uint64_t place, unsigned int kind, const struct frame *frame)
{
	const struct call_frame call = {
		.code = frame_code(frame),
		.layout = frame,
		/* The instructions that make cells have run when a generator is made. */
		.has_cells = kind & CODE_GENERATOR,
	};

	if ((kind & CODE_COROUTINE) && known_steps == ALL_STEPS)
		calls_enter_step(place, frame, is_resumed(frame), &call);
	else
		calls_enter(place, kind && is_resumed(frame) ? NULL : &call);
}

static PyObject *evaluate(PyThreadState *thread, struct frame *frame, int throw)
{
	PyObject *code = frame_code(frame);
	uint16_t generation;
	unsigned int kind;
	struct call_end end;
	PyObject *result;
	uint64_t place;

	if (UNLIKELY(!has_stack())) {
		set_evaluator(PyInterpreterState_Get(), evaluate_by_default);
		profile_take_over();
		return evaluate_by_default(thread, frame, throw);
	}
	place = place_of_call(code, globals_of, frame, &kind);
	/* To call a generator function only makes the generator. */
	if (!place || (kind && !frame_is_of_generator(frame)))
		return evaluate_by_default(thread, frame, throw);
	Py_INCREF(code);
	enter(place, kind, frame);
	generation = place_generation;
	result = evaluate_by_default(thread, frame, throw);
	/* A child process explains the place itself. */
	if (UNLIKELY(generation != place_generation))
		place = place_of_call(code, globals_of, frame, &kind);
	end.returned = result;
	end.raised = result ? NULL : PyErr_Occurred();
	/* Whoever lets a generator go on holds it. */
	if ((kind & CODE_COROUTINE) && known_steps == ALL_STEPS)
		calls_leave_step(place, frame, result && is_suspended(frame), &end);
	else
		calls_leave(place, &end);
	Py_DECREF(code);
	return result;
}

/* Whether frames look as they should. */
static PyObject *probe(PyThreadState *thread, struct frame *frame, int throw)
{
	is_as_known = frame_code(frame) == probed_code && globals_of(frame) == probed_globals &&
		!frame_is_of_generator(frame);
	return evaluate_by_default(thread, frame, throw);
}

/* Whether those of a generator do, which waits once. */
static PyObject *probe_step(PyThreadState *thread, struct frame *frame, int throw)
{
	PyObject *result;
	bool waited;

	if (!frame_is_of_generator(frame))
		return evaluate_by_default(thread, frame, throw);
	waited = is_resumed(frame);
	result = evaluate_by_default(thread, frame, throw);
	known_steps += waited == (known_steps != 0);
	known_steps += is_suspended(frame) == (known_steps == 1);
	return result;
}

static void run_probe(const char *expression, evaluator function)
{
	PyInterpreterState *interpreter = PyInterpreterState_Get();
	PyObject *globals = PyDict_New();
	PyObject *result = NULL;

	probed_globals = globals;
	probed_code = Py_CompileString(expression, "<vestige>", Py_eval_input);
	if (globals && probed_code) {
		set_evaluator(interpreter, function);
		result = PyEval_EvalCode(probed_code, globals, globals);
		set_evaluator(interpreter, evaluate_by_default);
	}
	Py_XDECREF(result);
	Py_XDECREF(globals);
	Py_CLEAR(probed_code);
	PyErr_Clear();
}

static bool are_frames_known(void)
{
	run_probe("None", probe);
	if (is_as_known)
		run_probe("[*(one for one in (None,))]", probe_step);
	return is_as_known;
}

bool frames_start(void)
{
	evaluator (*get_evaluator)(PyInterpreterState *interpreter);

	*(void **) &set_evaluator = dlsym(RTLD_DEFAULT, "_PyInterpreterState_SetEvalFrameFunc");
	*(void **) &get_evaluator = dlsym(RTLD_DEFAULT, "_PyInterpreterState_GetEvalFrameFunc");
	*(void **) &evaluate_by_default = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
	if (!set_evaluator || !get_evaluator || !evaluate_by_default || !profile_can_take_over())
		return false;
	/* Somebody else may have come first. */
	if (get_evaluator(PyInterpreterState_Get()) != evaluate_by_default || !are_frames_known())
		return false;
	set_evaluator(PyInterpreterState_Get(), evaluate);
	return true;
}
