/*
 * Which functions are recorded: by patterns of their names and files, and by the directories
 * that hold what is not the program's own.
 *
 * It is asked once for each code object, and each function that is written in C.
 */
#include "choice.h"

#include "../rules/patterns.h"

/* Directories of libraries, which end with a slash; NULL when all code counts. */
static PyObject *libraries;

PyObject *choice_set(PyObject *module, PyObject *arguments)
{
	const char *include, *exclude;
	Py_ssize_t include_size, exclude_size;
	PyObject *directories;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "s#s#O", &include, &include_size, &exclude,
			      &exclude_size, &directories))
		return NULL;
	if (!patterns_parse(include, (size_t) include_size, false) ||
	    !patterns_parse(exclude, (size_t) exclude_size, true)) {
		PyErr_SetString(PyExc_ValueError, "expected patterns of functions");
		return NULL;
	}
	if (PyTuple_Check(directories)) {
		Py_INCREF(directories);
		libraries = directories;
	}
	Py_RETURN_NONE;
}

/* A text of a dictionary, borrowed. */
static PyObject *text_in(PyObject *dictionary, const char *key)
{
	PyObject *text = dictionary && PyDict_Check(dictionary)
		? PyDict_GetItemString(dictionary, key)
		: NULL;

	return text && PyUnicode_Check(text) ? text : NULL;
}

static const char *utf8(PyObject *text, PyObject **holder)
{
	*holder = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape") : NULL;
	PyErr_Clear();
	return *holder ? PyBytes_AsString(*holder) : "";
}

/* --- the program's own code --- */

static bool begins_with(const char *text, PyObject *start)
{
	PyObject *holder;
	const char *prefix = utf8(start, &holder);
	const bool begins = *prefix && strncmp(text, prefix, strlen(prefix)) == 0;

	Py_XDECREF(holder);
	return begins;
}

/* Files that are installed, and those of the standard library. */
static bool is_library_file(const char *path)
{
	if (strstr(path, "/site-packages/") || strstr(path, "/dist-packages/"))
		return true;
	for (Py_ssize_t index = 0; index < PyTuple_Size(libraries); index++)
		if (begins_with(path, PyTuple_GetItem(libraries, index)))
			return true;
	return false;
}

/* What was made at run time, as by dataclasses, belongs to its module. Only a program that
 * has no file, and what it executes, lacks one; others, such as named tuples, are made up. */
static bool is_library(const char *path, PyObject *globals)
{
	PyObject *module = text_in(globals, "__name__");
	PyObject *file = text_in(globals, "__file__");
	PyObject *holder;
	bool is_in_one;

	if (*path != '<')
		return is_library_file(path);
	if (strncmp(path, "<frozen ", 8) == 0)
		return true;
	if (!file)
		return module && PyUnicode_CompareWithASCIIString(module, "__main__") != 0;
	is_in_one = is_library_file(utf8(file, &holder));
	Py_XDECREF(holder);
	return is_in_one;
}

/* --- patterns --- */

static bool names_match(const struct pattern *pattern, const char *name, const char *whole)
{
	return pattern->name &&
		(glob_matches(pattern->name, name) || glob_matches(pattern->name, whole));
}

/* Exclusion wins; without a pattern that includes, all others are in. */
static bool patterns_take(const char *path, PyObject *name, PyObject *module)
{
	PyObject *joined = module && name ? PyUnicode_FromFormat("%U.%U", module, name) : NULL;
	PyObject *name_holder, *whole_holder;
	const char *plain = utf8(name, &name_holder);
	const char *whole = utf8(joined ? joined : name, &whole_holder);
	bool is_in = !patterns.has_includes;

	for (unsigned int index = 0; index < patterns.count; index++) {
		const struct pattern *pattern = &patterns.all[index];

		if (is_in && !pattern->is_exclude)
			continue;
		if (!pattern_applies(pattern, path, false) || !names_match(pattern, plain, whole))
			continue;
		is_in = !pattern->is_exclude;
		if (!is_in)
			break;
	}
	Py_XDECREF(joined);
	Py_XDECREF(name_holder);
	Py_XDECREF(whole_holder);
	return is_in;
}

bool choice_takes(PyObject *path, PyObject *name, PyObject *globals)
{
	PyObject *holder;
	const char *file;
	bool is_in;

	if (!libraries && !patterns.count)
		return true;
	file = utf8(path, &holder);
	is_in = !(libraries && is_library(file, globals)) &&
		(!patterns.count || patterns_take(file, name, text_in(globals, "__name__")));
	Py_XDECREF(holder);
	PyErr_Clear();
	return is_in;
}

/* The program's own modules have a file, and it lies elsewhere than those of libraries. */
static bool is_library_module(PyObject *name)
{
	PyObject *module = name ? PyImport_GetModule(name) : NULL;
	PyObject *globals = module && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
	PyObject *file = text_in(globals, "__file__");
	PyObject *holder;
	const bool is_one = !file || is_library_file(utf8(file, &holder));

	if (file)
		Py_XDECREF(holder);
	Py_XDECREF(module);
	return is_one;
}

bool choice_takes_builtin(PyObject *module, PyObject *name)
{
	PyObject *holder;
	const char *plain;
	bool is_in;

	if (!libraries && !patterns.count)
		return true;
	plain = utf8(module, &holder);
	is_in = !(libraries && is_library_module(module)) &&
		(!patterns.count || patterns_take(plain, name, module));
	Py_XDECREF(holder);
	PyErr_Clear();
	return is_in;
}
