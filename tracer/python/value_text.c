/*
 * Texts of values, for people.
 *
 * Only what the interpreter itself knows of an object is read: its type, the value of types that
 * are built in, and sizes. Subclasses are shown as objects, since they may mean something
 * else. Time and memory do not depend on how large a value is.
 */
#define _GNU_SOURCE
#include "value_text.h"

#include <dlfcn.h>
#include <stdio.h>

/* Of a value, what is shown of strings: quotes and dots have room, too. */
#define LONGEST_CONTENT (VALUE_TEXT_SIZE - 6u)
#define LONGEST_NAME 40u
/* The longest escape, as \U0010ffff, and the zero after it. */
#define CHARACTER_SIZE 12

/* Not in the limited API. */
static size_t (*bits_of)(PyObject *integer);
static PyObject *(*function_of)(PyObject *method);
static PyTypeObject *function_type;
static PyTypeObject *method_type;

void value_text_start(void)
{
	*(void **) &function_of = dlsym(RTLD_DEFAULT, "PyMethod_Function");
	function_type = dlsym(RTLD_DEFAULT, "PyFunction_Type");
	method_type = dlsym(RTLD_DEFAULT, "PyMethod_Type");
	*(void **) &bits_of = dlsym(RTLD_DEFAULT, "_PyLong_NumBits");
}

bool text_add(struct text *text, const char *bytes, size_t size)
{
	if ((size_t) (text->end - text->at) < size)
		return false;
	memcpy(text->at, bytes, size);
	text->at += size;
	return true;
}

static bool add_word(struct text *text, const char *word)
{
	return text_add(text, word, strlen(word));
}

static bool add_number(struct text *text, uint64_t number, unsigned int base)
{
	char digits[24];
	char *at = digits + sizeof(digits);

	do
		*--at = "0123456789abcdef"[number % base];
	while (number /= base);
	return text_add(text, at, (size_t) (digits + sizeof(digits) - at));
}

/* --- characters --- */

static int encode(char *out, uint32_t character)
{
	if (character < 0x80) {
		out[0] = (char) character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char) (0xc0 | character >> 6);
		out[1] = (char) (0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char) (0xe0 | character >> 12);
		out[1] = (char) (0x80 | (character >> 6 & 0x3f));
		out[2] = (char) (0x80 | (character & 0x3f));
		return 3;
	}
	out[0] = (char) (0xf0 | character >> 18);
	out[1] = (char) (0x80 | (character >> 12 & 0x3f));
	out[2] = (char) (0x80 | (character >> 6 & 0x3f));
	out[3] = (char) (0x80 | (character & 0x3f));
	return 4;
}

/* As a literal has it; control characters and what is no text as numbers. */
static int spell(char *out, uint32_t character)
{
	switch (character) {
	case '\\':
	case '\'':
		return snprintf(out, CHARACTER_SIZE, "\\%c", (char) character);
	case '\n':
		return snprintf(out, CHARACTER_SIZE, "\\n");
	case '\r':
		return snprintf(out, CHARACTER_SIZE, "\\r");
	case '\t':
		return snprintf(out, CHARACTER_SIZE, "\\t");
	default:
		break;
	}
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return snprintf(out, CHARACTER_SIZE, "\\x%02x", character);
	if (character >= 0xd800 && character < 0xe000)
		return snprintf(out, CHARACTER_SIZE, "\\u%04x", character);
	return encode(out, character);
}

/* Characters of a string, as many as fit; whether these are all. */
static bool add_characters(struct text *text, PyObject *string)
{
	const Py_ssize_t length = PyUnicode_GetLength(string);
	char out[CHARACTER_SIZE];

	for (Py_ssize_t index = 0; index < length; index++)
		if (!text_add(text, out,
			      (size_t) spell(out, (uint32_t) PyUnicode_ReadChar(string, index))))
			return false;
	return true;
}

static bool add_bytes(struct text *text, const char *bytes, Py_ssize_t size)
{
	char out[CHARACTER_SIZE];

	for (Py_ssize_t index = 0; index < size; index++) {
		const uint8_t byte = (uint8_t) bytes[index];
		const int width = byte < 0x80 ? spell(out, byte)
					      : snprintf(out, CHARACTER_SIZE, "\\x%02x", byte);

		if (!text_add(text, out, (size_t) width))
			return false;
	}
	return true;
}

/* Room for some bytes of a text. */
static struct text part_of(const struct text *text, size_t size)
{
	const size_t left = (size_t) (text->end - text->at);

	return (struct text) {text->at, text->at + (size < left ? size : left)};
}

static bool add_quoted(struct text *text, PyObject *object)
{
	const bool is_string = PyUnicode_CheckExact(object);
	struct text content;
	bool is_whole;

	if (!add_word(text, is_string ? "'" : "b'"))
		return false;
	content = part_of(text, LONGEST_CONTENT);
	is_whole = is_string
		? add_characters(&content, object)
		: add_bytes(&content, PyBytes_AsString(object), PyBytes_Size(object));
	text->at = content.at;
	return add_word(text, is_whole ? "'" : "'...");
}

/* --- numbers, containers, other objects --- */

static bool add_large_integer(struct text *text, PyObject *object, bool is_negative)
{
	const unsigned long long value = is_negative ? 0 : PyLong_AsUnsignedLongLong(object);

	if (!is_negative && !(value == (unsigned long long) -1 && PyErr_Occurred()))
		return add_number(text, value, 10);
	PyErr_Clear();
	if (!bits_of)
		return add_word(text, "<large int>");
	return add_word(text, is_negative ? "<negative int of " : "<int of ") &&
		add_number(text, bits_of(object), 10) && add_word(text, " bits>");
}

static bool add_integer(struct text *text, PyObject *object)
{
	int overflow;
	const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);

	if (UNLIKELY(overflow))
		return add_large_integer(text, object, overflow < 0);
	if (value < 0)
		return add_word(text, "-") && add_number(text, -(uint64_t) value, 10);
	return add_number(text, (uint64_t) value, 10);
}

static bool add_float(struct text *text, PyObject *object)
{
	char *digits =
		PyOS_double_to_string(PyFloat_AsDouble(object), 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
	const bool is_added = digits && add_word(text, digits);

	PyMem_Free(digits);
	return is_added;
}

static bool add_count(struct text *text, const char *brackets, Py_ssize_t count)
{
	if (!count)
		return text_add(text, brackets, 2);
	return text_add(text, brackets, 1) && add_number(text, (uint64_t) count, 10) &&
		add_word(text, count == 1 ? " item" : " items") &&
		text_add(text, brackets + 1, 1);
}

/* The name is given up. */
static bool add_name(struct text *text, PyObject *name)
{
	struct text part = part_of(text, LONGEST_NAME);
	const bool is_whole = name && PyUnicode_Check(name) && add_characters(&part, name);

	Py_XDECREF(name);
	text->at = part.at;
	return is_whole || add_word(text, "...");
}

bool text_add_type(struct text *text, PyObject *type)
{
	return add_name(text, PyType_GetQualName((PyTypeObject *) type));
}

/* The name of a function, which is no matter of the program's code: a new reference, or NULL.
 * That of a function in C is without its type, whose metaclass might be asked for it. */
static PyObject *name_of_function(PyObject *object)
{
	if (Py_TYPE(object) == method_type && function_of)
		object = function_of(object);
	if (Py_TYPE(object) == function_type)
		return PyObject_GetAttrString(object, "__qualname__");
	return PyCFunction_CheckExact(object) ? PyObject_GetAttrString(object, "__name__") : NULL;
}

static bool add_object(struct text *text, PyObject *object)
{
	PyObject *name = name_of_function(object);

	if (name)
		return add_word(text,
				Py_TYPE(object) == method_type ? "<method " : "<function ") &&
			add_name(text, name) && add_word(text, ">");
	if (PyType_Check(object))
		return add_word(text, "<class ") && text_add_type(text, object) &&
			add_word(text, ">");
	return add_word(text, "<") && text_add_type(text, (PyObject *) Py_TYPE(object)) &&
		add_word(text, " at 0x") && add_number(text, (uintptr_t) object, 16) &&
		add_word(text, ">");
}

static bool add_constant(struct text *text, PyObject *object)
{
	return add_word(text, object == Py_None ? "None" : object == Py_True ? "True" : "False");
}

static bool add_any(struct text *text, PyObject *object)
{
	if (object == Py_None || object == Py_True || object == Py_False)
		return add_constant(text, object);
	if (PyLong_CheckExact(object))
		return add_integer(text, object);
	if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object))
		return add_quoted(text, object);
	if (PyFloat_CheckExact(object))
		return add_float(text, object);
	if (PyList_CheckExact(object))
		return add_count(text, "[]", PyList_Size(object));
	if (PyTuple_CheckExact(object))
		return add_count(text, "()", PyTuple_Size(object));
	if (PyDict_CheckExact(object) || Py_TYPE(object) == &PySet_Type)
		return add_count(text, "{}",
				 PyDict_CheckExact(object) ? PyDict_Size(object)
							   : PySet_Size(object));
	return add_object(text, object);
}

bool text_add_value(struct text *text, PyObject *object)
{
	char buffer[VALUE_TEXT_SIZE];
	struct text value = {buffer, buffer + sizeof(buffer)};

	return add_any(&value, object) && text_add(text, buffer, (size_t) (value.at - buffer));
}
