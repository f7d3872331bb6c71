/*
 * vestige.instrument: Python programs that tell the tracer what they do.
 *
 * For every Python from 3.11 on: only what its limited API has, and a few functions that are
 * looked for at run time. Everything here runs with the interpreter lock.
 */
#ifndef VESTIGE_PYTHON_NATIVE_H
#define VESTIGE_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <vestige/tracepoint-abi.h>

#include "../agreement/agreement.h"

#define LEVEL_FUNCTION 12
#define LEVEL_LINE 13

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Without a function call; the C library has some room for libraries that come later. */
#define FAST_THREAD_LOCAL __attribute__((tls_model("initial-exec")))

/* An event with a provider of its own, which the tracer keeps for the life of the process. */
struct own_event {
	struct vestige_tracepoint point;
	struct vestige_event event;
	struct vestige_event_class event_class;
	struct vestige_event *events[1];
	struct vestige_provider provider;
};

/* NULL in a process without the tracer. */
extern const struct vestige_tracer *tracer;

/* Make an event known to the tracer. All texts stay where they are. The ID is 0, or that of
 * an event which is in every recording. */
void event_define(struct own_event *event, const char *provider, const char *name,
		  int log_level, const struct vestige_field *fields, uint32_t field_count,
		  uint32_t id);

static inline bool event_is_recorded(const struct own_event *event)
{
	return event->point.state != 0;
}

static inline void put(struct vestige_record *record, const void *bytes, size_t size)
{
	memcpy(record->at, bytes, size);
	record->at += size;
}

static inline void put_place(struct vestige_record *record, uint64_t place)
{
	record->at = encode_place(record->at, place);
}

/* --- places of Python code (places.c) --- */

bool places_start(void);
/* The globals of the module of a frame, borrowed; NULL when they are not known. */
typedef PyObject *(*module_finder)(const void *frame);
/* Of a frame object, or of the present one. */
PyObject *place_globals_of_frame(const void *frame);
/* The address that stands for the first line of a code object that is called, which the
 * recording explains; 0 when it has none, or is not to be recorded. And what calling it
 * makes: flags. */
enum {
	CODE_GENERATOR = 1,
	/* With the flag above. */
	CODE_COROUTINE = 2,
	/* Calls are not recorded. */
	CODE_LEFT_OUT = 4,
};
uint64_t place_of_call(PyObject *code, module_finder find_module, const void *frame,
		       unsigned int *kind);
/* The same of any code object, for events in it. */
uint64_t place_of_code(PyObject *code);
/* The address of the line that the caller has come to. */
uint64_t place_of_caller(void);
uint64_t place_of_frame(PyFrameObject *frame);
/* A new address, 0 when there is none left; and what it stands for. */
uint64_t place_new(void);
void place_explain(uint64_t place, PyObject *file, PyObject *function, uint32_t line);
/* Counts forks: a child process explains its places itself. */
extern uint16_t place_generation;

/* --- code objects (codes.c) --- */

/* What is known of a code object; NULL when there is nothing. */
uint64_t *codes_find(const PyObject *code);
/* Note a word for a code object that has none; false where there is no memory. */
bool codes_add(PyObject *code, uint64_t word);

/* --- functions that are written in C (builtins.c) --- */

/* The address that stands for such a function. */
uint64_t place_of_builtin(PyObject *function);

/* What is kept for a code object that has a word, for parameters_free() when it goes. */
void **codes_parameters(const PyObject *code);
/* (arguments.c) */
void parameters_free(void *parameters);

/* --- calls (calls.c) --- */

struct frame;

/* Where the arguments of a call are. */
struct call_frame {
	PyObject *code;
	/* The interpreter's own frame in Python 3.11, or NULL, and whether it has put variables
	 * into cells. */
	const struct frame *layout;
	bool has_cells;
	PyFrameObject *object;
};

/* What a call ended with: a value, or the type of an exception. Neither, when it is an
 * exception of which nothing is known. */
struct call_end {
	PyObject *returned;
	PyObject *raised;
};

/* Record all calls from now on. The arguments: whether those of C functions, too; how deep
 * calls may be, and how long one lasts at least, in ticks of the recording's clock, or 0;
 * whether events have arguments and results. */
PyObject *calls_trace(PyObject *module, PyObject *arguments);
/* Record a call; nothing without a place. Frame and end are NULL where there are none. */
void calls_enter(uint64_t place, const struct call_frame *frame);
void calls_leave(uint64_t place, const struct call_end *end);
/* The same of a coroutine, which is told from others by an address: it begins
 * or goes on, and it waits or ends. */
void calls_enter_step(uint64_t place, const void *id, bool is_resumed,
		      const struct call_frame *frame);
void calls_leave_step(uint64_t place, const void *id, bool is_suspended,
		      const struct call_end *end);
/* Say in the recording that something is not in it. */
void calls_say_not_recorded(const char *what, const char *reason);

/* How one learns of calls; false when this version of Python has no such thing. */
bool monitoring_start(bool builtins);
bool frames_start(void);
bool profile_start(bool builtins);
/* All threads get the profiling hook while functions run. */
bool profile_can_take_over(void);
void profile_take_over(void);

/* --- tracepoints (points.c, spans.c) --- */

extern PyObject *point_type;
bool points_start(PyObject *module);
bool spans_start(PyObject *module);
/* Record collections of garbage (pauses.c). The arguments: two tracepoints, and the list of the
 * functions that the collector calls. */
PyObject *pauses_follow(PyObject *module, PyObject *arguments);
/* Record an event, at a place; the arguments are as in a vector call. false when an exception
 * is set: where values must fit, or after Ctrl-C in a method of a value. */
bool point_record(PyObject *point, uint64_t place, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *names);
bool point_is_recorded(PyObject *point);
/* Whether its values are looked at: it is recorded, or they must fit. */
bool point_is_wanted(PyObject *point);

#endif
