/*
 * Calls from the function that evaluates frames (PEP 523), in Python 3.11.
 *
 * It costs a sixth of the profiling hook, and holds for all threads. Frames have no public
 * form, but that of this version will not change any more.
 *
 * The interpreter calls itself for each Python function then, as it did up to Python 3.10,
 * and deep recursion needs stack. Before that gets scarce, the profiling hook takes over.
 */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>
#include <pthread.h>

#define GLOBALS_OFFSET 8
#define CODE_OFFSET 32
#define OWNER_OFFSET 69
#define OWNED_BY_GENERATOR 1
/* The instruction that ran last, of which the first byte is the operation. */
#define INSTRUCTION_OFFSET 56
#define RETURN_GENERATOR 75
/* The frame of a generator is a part of it: its state is before that. */
#define STATE_OFFSET (-5)
#define STATE_SUSPENDED (-1)
/* The part of a thread's stack that may be used before the hook takes over. */
#define STACK_SHARE 4

struct frame;

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

static inline PyObject *code_of(const struct frame *frame)
{
	return *(PyObject *const *) (const void *) ((const char *) frame + CODE_OFFSET);
}

static PyObject *globals_of(const void *frame)
{
	return *(PyObject *const *) (const void *) ((const char *) frame + GLOBALS_OFFSET);
}

static inline bool is_of_generator(const struct frame *frame)
{
	return ((const char *) frame)[OWNER_OFFSET] == OWNED_BY_GENERATOR;
}

/* Whether a generator has waited before; else it has only been made. */
static inline bool is_resumed(const struct frame *frame)
{
	const unsigned char *instruction = *(const unsigned char *const *) (const void *)
		((const char *) frame + INSTRUCTION_OFFSET);

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

static PyObject *evaluate(PyThreadState *thread, struct frame *frame, int throw)
{
	PyObject *code = code_of(frame);
	uint16_t generation;
	unsigned int kind;
	PyObject *result;
	uint64_t place;

	if (UNLIKELY(!has_stack())) {
		set_evaluator(PyInterpreterState_Get(), evaluate_by_default);
		profile_take_over();
		return evaluate_by_default(thread, frame, throw);
	}
	place = place_of_call(code, globals_of, frame, &kind);
	/* To call a generator function only makes the generator. */
	if (!place || (kind && !is_of_generator(frame)))
		return evaluate_by_default(thread, frame, throw);
	Py_INCREF(code);
	if ((kind & CODE_COROUTINE) && known_steps == ALL_STEPS)
		calls_enter_step(place, frame, is_resumed(frame));
	else
		calls_enter(place);
	generation = place_generation;
	result = evaluate_by_default(thread, frame, throw);
	/* A child process explains the place itself. */
	if (UNLIKELY(generation != place_generation))
		place = place_of_call(code, globals_of, frame, &kind);
	/* Whoever lets a generator go on holds it. */
	if ((kind & CODE_COROUTINE) && known_steps == ALL_STEPS)
		calls_leave_step(place, frame, result && is_suspended(frame));
	else
		calls_leave(place);
	Py_DECREF(code);
	return result;
}

/* Whether frames look as they should. */
static PyObject *probe(PyThreadState *thread, struct frame *frame, int throw)
{
	is_as_known = code_of(frame) == probed_code && globals_of(frame) == probed_globals &&
		!is_of_generator(frame);
	return evaluate_by_default(thread, frame, throw);
}

/* Whether those of a generator do, which waits once. */
static PyObject *probe_step(PyThreadState *thread, struct frame *frame, int throw)
{
	PyObject *result;
	bool waited;

	if (!is_of_generator(frame))
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
