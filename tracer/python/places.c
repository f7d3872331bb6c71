/*
 * Places of Python code, as addresses.
 *
 * Readers know places as addresses of the process, so each code object gets some, where user
 * space ends: address base + n stands for the n-th line after the first one. An event tells
 * what they mean, before the first record that has one of them.
 */
#define _GNU_SOURCE
#include "places.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "choice.h"
#include "codes.h"
#include "event.h"

/* No program has memory there, unless it asks the kernel for it. */
#define FIRST_PLACE (UINT64_C(1) << 47)
#define END_OF_PLACES (UINT64_C(1) << 48)
/* The recorder's copy of this library has some, and that of the program, if it is another. */
#define SHARES 16
/* Lines of a code object that have an address; all later ones share the last. */
#define MOST_LINES 65536u
#define LONGEST_TEXT 4096u
#define GENERATION_SHIFT 48
#define KIND_MASK UINT64_C(15)
/* Whether calls of the function are recorded was asked. */
#define CODE_CHOSEN UINT64_C(8)
#define PLACE_MASK ((END_OF_PLACES - 1) & ~KIND_MASK)
/* Of generators, coroutines, and both at once: flags of code objects, see inspect. */
#define GENERATOR_FLAGS (0x20u | 0x80u | 0x200u)
#define COROUTINE_FLAGS (0x80u | 0x100u | 0x200u)
#define LINE_SLOTS 4096u

static const struct vestige_field fields[] = {
	{.name = "baddr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "memsz", .kind = VESTIGE_INTEGER, .size = 8},
	{.name = "path", .kind = VESTIGE_STRING},
	{.name = "func", .kind = VESTIGE_STRING},
	{.name = "line", .kind = VESTIGE_INTEGER, .size = 4},
};

static struct own_event code_event;
static uint64_t next_place;
static uint64_t end_of_places;
/* Counts forks: a child process explains its places itself. */
uint16_t place_generation = 1;
/* Not in the limited API. */
static int (*get_instruction)(PyFrameObject *frame);
static PyObject *(*get_globals)(PyFrameObject *frame);
static PyTypeObject *code_type;

/* Which line an instruction of a code object is in: to ask Python takes long. */
static struct {
	uint64_t place;
	int instruction;
	uint32_t offset;
} lines[LINE_SLOTS];

static void after_fork(void)
{
	/* 0 is that of a word that is not there. */
	if (!++place_generation)
		place_generation = 1;
	codes_changes++;
}

/* Take a share of the addresses that no other copy has in this process. */
static void take_share(void)
{
	const uint64_t size = (END_OF_PLACES - FIRST_PLACE) / SHARES;
	PyObject *shared = PyInterpreterState_GetDict(PyInterpreterState_Get());
	PyObject *taken = shared ? PyDict_GetItemString(shared, "vestige.instrument") : NULL;
	const long share = taken ? PyLong_AsLong(taken) : 0;
	PyObject *next = PyLong_FromLong(share + 1);

	if (shared && next && share >= 0 && share < SHARES &&
	    PyDict_SetItemString(shared, "vestige.instrument", next) == 0) {
		next_place = FIRST_PLACE + (uint64_t) share * size;
		end_of_places = next_place + size;
	}
	Py_XDECREF(next);
	PyErr_Clear();
}

bool places_start(void)
{
	static bool is_started;

	/* The module may be there twice, with different names. */
	if (is_started)
		return true;
	is_started = true;
	*(void **) &get_instruction = dlsym(RTLD_DEFAULT, "PyFrame_GetLasti");
	*(void **) &get_globals = dlsym(RTLD_DEFAULT, "PyFrame_GetGlobals");
	code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	if (!code_type || pthread_atfork(NULL, NULL, after_fork) != 0)
		return true;
	take_share();
	event_define(&code_event, "vestige_python", "code", LEVEL_LINE, fields,
		     sizeof(fields) / sizeof(fields[0]), EVENT_PYTHON_CODE);
	return true;
}

/* A text in UTF-8, as a bytes object; NULL when it is none. */
static PyObject *bytes_of(PyObject *text)
{
	PyObject *bytes = NULL;

	if (text && PyUnicode_Check(text))
		bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	if (!bytes)
		PyErr_Clear();
	return bytes;
}

static uint32_t integer_of(PyObject *object, const char *attribute)
{
	PyObject *number = PyObject_GetAttrString(object, attribute);
	const long value = number ? PyLong_AsLong(number) : -1;

	Py_XDECREF(number);
	PyErr_Clear();
	return value < 0 || value > INT32_MAX ? 0 : (uint32_t) value;
}

static size_t text_size(PyObject *bytes)
{
	const size_t size = bytes ? strlen(PyBytes_AsString(bytes)) : 0;

	return size < LONGEST_TEXT ? size : LONGEST_TEXT;
}

static void put_text(struct vestige_record *record, PyObject *bytes, size_t size)
{
	if (size)
		put(record, PyBytes_AsString(bytes), size);
	put(record, "", 1);
}

void place_explain(uint64_t place, PyObject *file, PyObject *function, uint32_t line)
{
	const uint64_t size = MOST_LINES;
	PyObject *path = bytes_of(file);
	PyObject *name = bytes_of(function);
	const size_t path_size = text_size(path);
	const size_t name_size = text_size(name);
	struct vestige_record record;

	if (tracer->begin(&code_event.event, &record,
			  CODE_FIELDS_SIZE(path_size + 1, name_size + 1),
			  (const void *) (uintptr_t) place)) {
		put(&record, &place, sizeof(place));
		put(&record, &size, sizeof(size));
		put_text(&record, path, path_size);
		put_text(&record, name, name_size);
		put(&record, &line, sizeof(line));
		tracer->commit(&record);
	}
	Py_XDECREF(path);
	Py_XDECREF(name);
}

uint64_t place_new(void)
{
	const uint64_t place = next_place;

	if (place >= end_of_places)
		return 0;
	next_place += MOST_LINES;
	return place;
}

/* Our own functions are no part of the program. */
static bool is_ours(PyObject *path)
{
	static PyObject *directory;
	Dl_info info;

	if (!directory && dladdr(&code_event, &info)) {
		const char *end = strrchr(info.dli_fname, '/');

		directory = PyUnicode_FromStringAndSize(info.dli_fname,
							end ? end + 1 - info.dli_fname : 0);
	}
	return directory && path && PyUnicode_Check(path) && PyUnicode_GetLength(directory) &&
		PyUnicode_Tailmatch(path, directory, 0, PY_SSIZE_T_MAX, -1) == 1;
}

/* What is asked for when a code object is looked up. */
struct asking {
	/* A call of it, which is recorded if the function is chosen. */
	bool is_call;
	module_finder find_module;
	const void *frame;
};

/* What calling a code object makes, and whether that is recorded. */
static uint64_t flags_of(PyObject *code, PyObject *path, PyObject *name, uint64_t known,
			 const struct asking *asking)
{
	const uint32_t flags = integer_of(code, "co_flags");
	uint64_t word = known & (CODE_LEFT_OUT | CODE_CHOSEN);

	if (flags & GENERATOR_FLAGS)
		word |= CODE_GENERATOR;
	if (flags & COROUTINE_FLAGS)
		word |= CODE_COROUTINE;
	if (asking->is_call && !(word & CODE_CHOSEN)) {
		word |= CODE_CHOSEN;
		if (!is_ours(path) &&
		    !choice_takes(path, name, asking->find_module(asking->frame)))
			word |= CODE_LEFT_OUT;
	}
	return word;
}

/* A code object that is seen first, or first in this process, or called first. */
static __attribute__((noinline, cold)) uint64_t introduce(PyObject *code, uint64_t *known,
							  const struct asking *asking)
{
	PyObject *error_type, *error, *traceback, *path, *name;
	const uint64_t before = known ? *known : 0;
	const bool is_explained =
		before & PLACE_MASK && before >> GENERATION_SHIFT == place_generation;
	uint64_t place = before & PLACE_MASK;
	uint64_t word;

	PyErr_Fetch(&error_type, &error, &traceback);
	path = PyObject_GetAttrString(code, "co_filename");
	name = PyObject_GetAttrString(code, "co_qualname");
	PyErr_Clear();
	word = flags_of(code, path, name, before, asking);
	/* A function that is left out has a place when an event happens in it. */
	if (asking->is_call && word & CODE_LEFT_OUT)
		place = is_explained ? place : 0;
	else if (!place && !is_ours(path))
		place = place_new();
	word |= place | (uint64_t) place_generation << GENERATION_SHIFT;
	/* The collector of garbage may have moved it. */
	known = codes_find(code);
	if (known)
		*known = word;
	else if (!codes_add(code, word))
		word = place = 0;
	if (place && !is_explained)
		place_explain(place, path, name, integer_of(code, "co_firstlineno"));
	Py_XDECREF(path);
	Py_XDECREF(name);
	PyErr_Clear();
	PyErr_Restore(error_type, error, traceback);
	return word;
}

uint64_t place_of_call(PyObject *code, module_finder find_module, const void *frame,
		       unsigned int *kind)
{
	const struct asking asking = {true, find_module, frame};
	uint64_t *known;
	uint64_t word;

	*kind = 0;
	if (UNLIKELY(!event_is_recorded(&code_event)))
		return 0;
	known = codes_find(code);
	word = known ? *known : 0;
	if (UNLIKELY(word >> GENERATION_SHIFT != place_generation || !(word & CODE_CHOSEN))) {
		if (Py_TYPE(code) != code_type)
			return 0;
		word = introduce(code, known, &asking);
	}
	*kind = (unsigned int) (word & KIND_MASK & ~CODE_CHOSEN);
	return word & CODE_LEFT_OUT ? 0 : word & PLACE_MASK;
}

uint64_t place_of_code(PyObject *code)
{
	static const struct asking asking;
	uint64_t *known;
	uint64_t word;

	if (UNLIKELY(!event_is_recorded(&code_event)))
		return 0;
	known = codes_find(code);
	word = known ? *known : 0;
	if (UNLIKELY(word >> GENERATION_SHIFT != place_generation ||
		     (word & CODE_LEFT_OUT && !(word & PLACE_MASK)))) {
		if (Py_TYPE(code) != code_type)
			return 0;
		word = introduce(code, known, &asking);
	}
	return word & PLACE_MASK;
}

bool places_are_told(void)
{
	return event_is_recorded(&code_event);
}

PyObject *place_globals_of_frame(const void *frame)
{
	PyObject *globals;

	if (!frame)
		frame = PyEval_GetFrame();
	if (!frame || !get_globals)
		return NULL;
	globals = get_globals((PyFrameObject *) (uintptr_t) frame);
	/* The frame holds them. */
	Py_XDECREF(globals);
	return globals;
}

static uint32_t line_offset(PyFrameObject *frame, PyObject *code)
{
	const int64_t line = PyFrame_GetLineNumber(frame);
	const int64_t first = integer_of(code, "co_firstlineno");

	return line <= first                ? 0
		: line - first < MOST_LINES ? (uint32_t) (line - first)
					    : MOST_LINES - 1;
}

uint64_t place_of_frame(PyFrameObject *frame)
{
	PyObject *code = (PyObject *) PyFrame_GetCode(frame);
	const uint64_t place = place_of_code(code);
	const int instruction = get_instruction ? get_instruction(frame) : -1;
	const size_t slot = (place / MOST_LINES * 31 + (size_t) instruction / 2) % LINE_SLOTS;
	uint32_t offset;

	if (LIKELY(instruction >= 0 && lines[slot].place == place &&
		   lines[slot].instruction == instruction)) {
		offset = lines[slot].offset;
	} else {
		offset = place ? line_offset(frame, code) : 0;
		lines[slot].place = place;
		lines[slot].instruction = instruction;
		lines[slot].offset = offset;
	}
	Py_DECREF(code);
	return place ? place + offset : 0;
}

uint64_t place_of_caller(void)
{
	PyFrameObject *frame = PyEval_GetFrame();

	return frame ? place_of_frame(frame) : 0;
}
