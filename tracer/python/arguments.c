/*
 * Arguments and results of functions that are written in Python, as texts.
 *
 * Arguments are the first local variables of a frame. They are read where the interpreter has
 * them, without the dictionary of local variables, which would live on in the frame. The names
 * of the parameters are worked out once for each code object.
 */
#define _GNU_SOURCE
#include "arguments.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "codes.h"
#include "frame_layout.h"
#include "value_text.h"

#define MOST_PARAMETERS 64
/* Flags of code objects, see inspect. */
#define HAS_MORE_ARGUMENTS 0x04u
#define HAS_MORE_KEYWORDS 0x08u

struct parameter {
	PyObject *name;
	/* As in a definition, with stars. */
	char text[VALUE_TEXT_SIZE];
	uint8_t text_size;
	uint16_t slot;
	/* It is in a cell, since functions within use it, too. */
	bool is_cell;
};

struct parameters {
	uint32_t count;
	/* There are more. */
	bool is_cut;
	struct parameter all[MOST_PARAMETERS];
};

bool arguments_are_recorded;
/* Not in the limited API. */
static PyObject *(*get_variable)(PyFrameObject *frame, PyObject *name);
static PyObject *(*get_content)(PyObject *cell);
static PyTypeObject *cell_type;

void arguments_start(bool are_wanted)
{
	arguments_are_recorded = are_wanted;
	if (!are_wanted)
		return;
	value_text_start();
	*(void **) &get_variable = dlsym(RTLD_DEFAULT, "PyFrame_GetVar");
	*(void **) &get_content = dlsym(RTLD_DEFAULT, "PyCell_Get");
	cell_type = dlsym(RTLD_DEFAULT, "PyCell_Type");
}

/* --- parameters --- */

static long integer_of(PyObject *code, const char *attribute)
{
	PyObject *number = PyObject_GetAttrString(code, attribute);
	const long value = number ? PyLong_AsLong(number) : 0;

	Py_XDECREF(number);
	return value;
}

static bool holds(PyObject *names, PyObject *name)
{
	for (Py_ssize_t index = 0; names && index < PyTuple_Size(names); index++)
		if (PyUnicode_Compare(PyTuple_GetItem(names, index), name) == 0)
			return true;
	return false;
}

struct reading {
	struct parameters *parameters;
	PyObject *names;
	PyObject *cells;
};

static void add_parameter(const struct reading *reading, long slot, const char *stars)
{
	struct parameters *parameters = reading->parameters;
	struct parameter *one = &parameters->all[parameters->count];
	struct text text = {one->text, one->text + sizeof(one->text)};
	PyObject *name = slot < PyTuple_Size(reading->names)
		? PyTuple_GetItem(reading->names, slot)
		: NULL;
	Py_ssize_t size;
	const char *bytes = name ? PyUnicode_AsUTF8AndSize(name, &size) : NULL;

	/* What a comprehension loops over has no name in the source. */
	if (!bytes || *bytes == '.')
		return;
	if (parameters->count == MOST_PARAMETERS) {
		parameters->is_cut = true;
		return;
	}
	text_add(&text, stars, strlen(stars));
	if (!text_add(&text, bytes, (size_t) size))
		text_add(&text, "...", 3);
	one->text_size = (uint8_t) (text.at - one->text);
	one->slot = (uint16_t) slot;
	one->is_cell = holds(reading->cells, name);
	Py_INCREF(name);
	one->name = name;
	parameters->count++;
}

/* In the order of a definition. */
static void read_parameters(const struct reading *reading, PyObject *code)
{
	const long flags = integer_of(code, "co_flags");
	const long count = integer_of(code, "co_argcount");
	const long named = integer_of(code, "co_kwonlyargcount");
	const bool has_more = flags & HAS_MORE_ARGUMENTS;

	for (long slot = 0; slot < count; slot++)
		add_parameter(reading, slot, "");
	if (has_more)
		add_parameter(reading, count + named, "*");
	for (long slot = count; slot < count + named; slot++)
		add_parameter(reading, slot, "");
	if (flags & HAS_MORE_KEYWORDS)
		add_parameter(reading, count + named + has_more, "**");
}

static void parameters_free(void *known)
{
	struct parameters *parameters = known;

	for (uint32_t index = 0; parameters && index < parameters->count; index++)
		Py_DECREF(parameters->all[index].name);
	free(parameters);
}

/* It lives as long as what is known of the code object. */
static struct parameters *parameters_of(PyObject *code)
{
	void **known = codes_parameters(code, parameters_free);
	struct parameters *smaller;
	struct reading reading;

	if (!known || *known)
		return known ? *known : NULL;
	reading.parameters = calloc(1, sizeof(*reading.parameters));
	if (!reading.parameters)
		return NULL;
	reading.names = PyObject_GetAttrString(code, "co_varnames");
	reading.cells = PyObject_GetAttrString(code, "co_cellvars");
	if (reading.names && reading.cells)
		read_parameters(&reading, code);
	Py_XDECREF(reading.names);
	Py_XDECREF(reading.cells);
	smaller = realloc(reading.parameters,
			  offsetof(struct parameters, all) +
				  reading.parameters->count * sizeof(struct parameter));
	/* The collector of garbage may have moved what is known. */
	known = codes_parameters(code, parameters_free);
	if (!smaller)
		smaller = reading.parameters;
	if (known)
		*known = smaller;
	else
		parameters_free(smaller);
	return known ? smaller : NULL;
}

/* --- values --- */

static PyObject *content_of(PyObject *cell)
{
	if (!get_content || Py_TYPE(cell) != cell_type)
		return NULL;
	return get_content(cell);
}

/* A new reference; NULL where there is no value. */
static PyObject *value_of(const struct call_frame *frame, const struct parameter *parameter)
{
	PyObject *value;

	if (frame->layout) {
		value = frame_locals(frame->layout)[parameter->slot];
		if (value && parameter->is_cell && frame->has_cells)
			return content_of(value);
		Py_XINCREF(value);
		return value;
	}
	value = frame->object && get_variable ? get_variable(frame->object, parameter->name)
					      : NULL;
	if (!value)
		PyErr_Clear();
	return value;
}

static bool add_argument(struct text *text, const char *separator,
			 const struct parameter *parameter, PyObject *value)
{
	struct text whole = *text;

	if (!text_add(&whole, separator, strlen(separator)) ||
	    !text_add(&whole, parameter->text, parameter->text_size) ||
	    !text_add(&whole, "=", 1) || !text_add_value(&whole, value))
		return false;
	text->at = whole.at;
	return true;
}

/* Whether the text has all of them: frames of compiled code, as Cython makes them, have no
 * values. */
static bool add_arguments(struct text *text, const struct call_frame *frame)
{
	const struct parameters *parameters = parameters_of(frame->code);
	const char *separator = "";
	bool is_whole = parameters && !parameters->is_cut;

	for (uint32_t index = 0; parameters && index < parameters->count; index++) {
		PyObject *value = value_of(frame, &parameters->all[index]);
		bool is_added;

		if (!value) {
			is_whole = false;
			continue;
		}
		is_added = add_argument(text, separator, &parameters->all[index], value);
		Py_DECREF(value);
		if (!is_added)
			return false;
		separator = ", ";
	}
	return is_whole;
}

static const struct call_text *finish(struct call_text *room, const struct text *text)
{
	*text->at = '\0';
	room->size = (uint32_t) (text->at + 1 - room->bytes);
	return room;
}

const struct call_text *call_text_of_entry(const struct call_frame *frame, struct call_text *room)
{
	static const char most_end[] = ", ...)";
	struct text text = {room->bytes, room->bytes + CALL_TEXT_SIZE - sizeof(most_end)};
	PyObject *error_type, *error, *traceback;
	bool is_whole = false;

	if (!arguments_are_recorded)
		return NULL;
	text_add(&text, "(", 1);
	if (frame) {
		PyErr_Fetch(&error_type, &error, &traceback);
		is_whole = add_arguments(&text, frame);
		PyErr_Clear();
		PyErr_Restore(error_type, error, traceback);
	}
	text.end = room->bytes + CALL_TEXT_SIZE - 1;
	if (!is_whole && text.at > room->bytes + 1)
		text_add(&text, ", ", 2);
	text_add(&text, is_whole ? ")" : "...)", is_whole ? 1 : 4);
	return finish(room, &text);
}

const struct call_text *call_text_of_exit(const struct call_end *end, struct call_text *room)
{
	struct text text = {room->bytes, room->bytes + CALL_TEXT_SIZE - 1};
	PyObject *error_type, *error, *traceback;

	if (!arguments_are_recorded)
		return NULL;
	PyErr_Fetch(&error_type, &error, &traceback);
	if (!end || (end->returned && !text_add_value(&text, end->returned)))
		text_add(&text, "...", 3);
	if (end && !end->returned) {
		text_add(&text, "raises ", 7);
		if (!end->raised || !text_add_type(&text, end->raised))
			text_add(&text, "...", 3);
	}
	PyErr_Clear();
	PyErr_Restore(error_type, error, traceback);
	return finish(room, &text);
}
