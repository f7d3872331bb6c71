/* What is wrong with the values of an event: told once, or raised. */
#include "misfits.h"

static bool is_told(struct definition *definition, uint32_t field, PyObject *type, enum fit fit)
{
	for (uint8_t index = 0; index < definition->told_count; index++) {
		const struct told *told = &definition->told[index];

		if (told->field == field && told->type == type && told->fit == fit)
			return true;
	}
	return definition->told_count >= MOST_TOLD;
}

static PyObject *exception_of(enum fit fit)
{
	return fit == FIT_NEAREST ? PyExc_OverflowError
		: fit == FIT_PART ? PyExc_ValueError
				  : PyExc_TypeError;
}

/* Say what is wrong with an event: one line on the standard error, or an exception. */
static bool tell(struct definition *definition, uint32_t field, PyObject *type, enum fit fit,
		 PyObject *text, const char *instead)
{
	if (!text) {
		PyErr_Clear();
		return true;
	}
	if (definition->is_strict) {
		PyErr_SetObject(exception_of(fit), text);
		return false;
	}
	if (!is_told(definition, field, type, fit)) {
		Py_XINCREF(type);
		definition->told[definition->told_count++] = (struct told) {
			.type = type, .field = (uint8_t) field, .fit = (uint8_t) fit};
		PySys_FormatStderr("vestige: %U%s\n", text, instead);
	}
	return true;
}

static PyObject *misfit_text(struct definition *definition, uint32_t index, PyObject *object,
			     enum fit fit)
{
	const char *provider = definition->event.provider.name;
	const char *event = definition->event.event.name;
	const char *type = type_names[definition->types[index]];
	PyObject *name, *text;

	if (fit == FIT_MISSING)
		return PyUnicode_FromFormat("%s:%s: no value for the field '%U'", provider, event,
					    definition->names[index]);
	name = PyType_GetName(Py_TYPE(object));
	if (!name)
		return NULL;
	text = fit == FIT_NEAREST
		? PyUnicode_FromFormat("%s:%s: the field '%U' (%s): this %U is too large",
				       provider, event, definition->names[index], type, name)
		: fit == FIT_PART
		? PyUnicode_FromFormat("%s:%s: the field '%U' (%s): this %U is no whole number",
				       provider, event, definition->names[index], type, name)
		: PyUnicode_FromFormat("%s:%s: the field '%U' (%s) takes no %U", provider, event,
				       definition->names[index], type, name);
	Py_DECREF(name);
	return text;
}

bool misfit_of_value(struct definition *definition, uint32_t index, PyObject *object,
		     enum fit fit)
{
	const enum type type = definition->types[index];
	const char *empty = type == TYPE_STR || type == TYPE_BYTES ? "; an empty one is recorded"
								   : "; 0 is recorded";
	PyObject *text;
	bool goes_on;

	if (fit == FIT_RAISES)
		return false;
	text = misfit_text(definition, index, object, fit);
	goes_on = tell(definition, index, object ? (PyObject *) Py_TYPE(object) : NULL, fit, text,
		       fit == FIT_NEAREST        ? "; the nearest one is recorded"
			       : fit == FIT_PART ? "; its whole part is recorded"
						 : empty);
	Py_XDECREF(text);
	return goes_on;
}

bool misfit_of_arguments(struct definition *definition, PyObject *unknown, Py_ssize_t count)
{
	const char *provider = definition->event.provider.name;
	const char *event = definition->event.event.name;
	PyObject *text = unknown
		? PyUnicode_FromFormat("%s:%s: no field has the name '%U'", provider, event,
				       unknown)
		: PyUnicode_FromFormat("%s:%s: %zd values for %u fields", provider, event, count,
				       (unsigned int) definition->count);
	const bool goes_on = tell(definition, MOST_FIELDS + (unknown != NULL), NULL, FIT_NONE,
				  text, "; it is left out");

	Py_XDECREF(text);
	return goes_on;
}
