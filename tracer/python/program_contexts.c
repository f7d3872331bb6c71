/*
 * Contexts that a Python program sets.
 *
 * A value is in a context variable, so each thread and each task has its own. The tracer asks in
 * any thread and in signal handlers, where nothing of the interpreter may be used: so each thread
 * has a copy that is made when a value is set, and before an event of a Python program is
 * recorded.
 */
#include "program_contexts.h"

#include <pthread.h>
#include <stdlib.h>

#include "event.h"
#include "openings.h"

/* As many as one recording takes. */
#define MOST_CONTEXTS MOST_APPLICATION_CONTEXTS
#define LONGEST_TEXT 255u

struct copy {
	/* VESTIGE_UNUSED while it changes. */
	unsigned int kind;
	union {
		int64_t integer;
		double real;
		char text[LONGEST_TEXT + 1];
	} as;
};

static struct vestige_context contexts[MOST_CONTEXTS];
static PyObject *variables[MOST_CONTEXTS];
unsigned int program_context_count;
/* Of the thread, with a place for each context; NULL before the first value. */
static __thread struct copy *copies FAST_THREAD_LOCAL;
static pthread_key_t key;

/* A handler that runs from here on finds nothing. */
static void forget_copies(void *of_thread)
{
	copies = NULL;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	free(of_thread);
}

static void get(void *data, struct vestige_value *value)
{
	const unsigned int number = (unsigned int) (uintptr_t) data;
	const struct copy *copy = copies ? &copies[number] : NULL;

	value->length = copy ? copy->kind : VESTIGE_UNUSED;
	__atomic_signal_fence(__ATOMIC_ACQUIRE);
	if (value->length == VESTIGE_INTEGER)
		value->as.integer = copy->as.integer;
	else if (value->length == VESTIGE_FLOAT)
		value->as.real = copy->as.real;
	else if (value->length == VESTIGE_STRING)
		value->as.bytes = copy->as.text;
}

/* Up to a zero, and whole characters. */
static void copy_text(struct copy *copy, const char *text)
{
	size_t size = strnlen(text, LONGEST_TEXT + 1);

	if (size > LONGEST_TEXT)
		for (size = LONGEST_TEXT; size && ((unsigned char) text[size] & 0xc0) == 0x80;)
			size--;
	memcpy(copy->as.text, text, size);
	copy->as.text[size] = '\0';
}

static void copy_value(struct copy *copy, PyObject *value)
{
	unsigned int kind = VESTIGE_UNUSED;
	const char *text;

	copy->kind = VESTIGE_UNUSED;
	__atomic_signal_fence(__ATOMIC_RELEASE);
	if (PyFloat_Check(value)) {
		copy->as.real = PyFloat_AsDouble(value);
		kind = VESTIGE_FLOAT;
	} else if (PyLong_Check(value)) {
		copy->as.integer = PyLong_AsLongLong(value);
		kind = VESTIGE_INTEGER;
	} else if (PyUnicode_Check(value)) {
		/* NULL: it holds halves of characters. */
		text = PyUnicode_AsUTF8AndSize(value, NULL);
		if (text)
			copy_text(copy, text);
		kind = text ? VESTIGE_STRING : VESTIGE_UNUSED;
	}
	if (PyErr_Occurred()) {
		PyErr_Clear();
		kind = VESTIGE_UNUSED;
	}
	__atomic_signal_fence(__ATOMIC_RELEASE);
	copy->kind = kind;
}

static bool make_copies(void)
{
	struct copy *made = calloc(MOST_CONTEXTS, sizeof(*made));

	if (!made)
		return false;
	for (unsigned int number = 0; number < MOST_CONTEXTS; number++)
		made[number].kind = VESTIGE_UNUSED;
	if (pthread_setspecific(key, made) != 0) {
		free(made);
		return false;
	}
	__atomic_signal_fence(__ATOMIC_RELEASE);
	copies = made;
	return true;
}

void program_contexts_read(void)
{
	PyObject *error_type, *error, *traceback;

	if (!copies && !make_copies())
		return;
	PyErr_Fetch(&error_type, &error, &traceback);
	for (unsigned int number = 0; number < program_context_count; number++) {
		PyObject *value = opening_read_variable(variables[number]);

		copy_value(&copies[number], value ? value : Py_None);
		Py_XDECREF(value);
	}
	PyErr_Restore(error_type, error, traceback);
}

static bool takes_contexts(void)
{
	return tracer &&
		tracer->struct_size >=
		offsetof(struct vestige_tracer, add_context) + sizeof(tracer->add_context);
}

PyObject *program_contexts_add(PyObject *module, PyObject *arguments)
{
	struct vestige_context *context = &contexts[program_context_count];
	const char *name;
	PyObject *variable;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "sO", &name, &variable))
		return NULL;
	if (!takes_contexts() || program_context_count == MOST_CONTEXTS ||
	    (!program_context_count && pthread_key_create(&key, forget_copies) != 0))
		Py_RETURN_FALSE;
	*context = (struct vestige_context) {
		.struct_size = sizeof(*context),
		.kind = VESTIGE_ANY,
		.name = strdup(name),
		.get = get,
		.data = (void *) (uintptr_t) program_context_count,
	};
	if (!context->name || !tracer->add_context(context)) {
		free((char *) context->name);
		if (!program_context_count)
			pthread_key_delete(key);
		Py_RETURN_FALSE;
	}
	Py_INCREF(variable);
	variables[program_context_count++] = variable;
	Py_RETURN_TRUE;
}

PyObject *program_contexts_set(PyObject *module, PyObject *unused)
{
	(void) module;
	(void) unused;
	program_contexts_refresh();
	Py_RETURN_NONE;
}
