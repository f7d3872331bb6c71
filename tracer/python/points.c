/* Tracepoints that a Python program defines: an event with typed fields. */
#include "points.h"

#include <stddef.h>
#include <stdlib.h>
#include <structmember.h>

#include "event.h"
#include "misfits.h"
#include "places.h"
#include "program_contexts.h"
#include "sites.h"

/* In the limited API from Python 3.12 on, and the same ever since 3.8. */
#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
typedef PyObject *(*vectorcallfunc)(PyObject *callable, PyObject *const *arguments, size_t count,
				    PyObject *names);
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *tuple, PyObject *dict);
#endif
#define ARGUMENT_COUNT (~((size_t) 1 << (8 * sizeof(size_t) - 1)))

struct point {
	PyObject_HEAD
	vectorcallfunc vectorcall;
	struct definition *definition;
};

static const char *text_of(PyObject *object)
{
	const char *text = PyUnicode_AsUTF8AndSize(object, NULL);

	if (!text)
		PyErr_Clear();
	return text ? text : "?";
}

/* The field of a named argument: mostly that of the same place. */
static uint32_t field_of(const struct definition *definition, PyObject *name, uint32_t guess)
{
	if (LIKELY(guess < definition->count && definition->names[guess] == name))
		return guess;
	for (uint32_t index = 0; index < definition->count; index++)
		if (PyUnicode_Compare(definition->names[index], name) == 0)
			return index;
	return UINT32_MAX;
}

/* What is to be recorded: values that come first, which are read already, and those of the program,
 * the last of them with names. */
struct given {
	const struct value *own;
	uint32_t own_count;
	PyObject *const *objects;
	Py_ssize_t count;
	PyObject *names;
};

/* A call site has the same tuple each time: what is in it need not be looked at again. */
static void note_names(struct definition *definition, const struct given *given, Py_ssize_t named)
{
	if (given->own_count + named != (Py_ssize_t) definition->count)
		return;
	for (Py_ssize_t index = 0; index < named; index++)
		if (PyTuple_GetItem(given->names, index) !=
		    definition->names[given->own_count + index])
			return;
	Py_INCREF(given->names);
	Py_XDECREF(definition->usual_names);
	definition->usual_names = given->names;
	definition->usual_count = (uint32_t) named;
}

/* Whether all values are there, each at the place of its field. */
static inline bool are_sorted(const struct definition *definition, const struct given *given)
{
	if (!given->names)
		return given->own_count + given->count == (Py_ssize_t) definition->count;
	return given->names == definition->usual_names && given->count == 0 &&
		given->own_count + definition->usual_count == definition->count;
}

/* Which object is for which field; false when an exception is set. */
static APART bool sort_objects(struct definition *definition, PyObject **objects,
			       const struct given *given)
{
	const Py_ssize_t named = given->names ? PyTuple_Size(given->names) : 0;
	const Py_ssize_t count = given->own_count + given->count;
	bool goes_on = true;

	if (given->count == 0 && named)
		note_names(definition, given, named);
	for (uint32_t index = 0; index < definition->count; index++)
		objects[index] = index < given->own_count ? Py_None
			: index < (size_t) count ? given->objects[index - given->own_count]
						 : NULL;
	for (Py_ssize_t index = 0; index < named; index++) {
		PyObject *name = PyTuple_GetItem(given->names, index);
		const uint32_t field = field_of(definition, name, (uint32_t) (count + index));

		if (UNLIKELY(field == UINT32_MAX))
			goes_on = goes_on && misfit_of_arguments(definition, name, 0);
		else if (LIKELY(!objects[field]))
			objects[field] = given->objects[given->count + index];
		else
			goes_on = goes_on && misfit_of_arguments(definition, NULL, count + named);
	}
	if (UNLIKELY(count > (Py_ssize_t) definition->count))
		goes_on = goes_on && misfit_of_arguments(definition, NULL, count + named);
	return goes_on;
}

/* Values on their way into a record, and the bytes that they take there. */
struct values {
	size_t size;
	/* How many are read, and whether some of them own an object. */
	uint32_t count;
	bool own_objects;
	struct value of[MOST_FIELDS];
};

/* Read all values, one for each field; false when an exception is set. */
static INLINED bool read_values(struct definition *definition, struct values *values,
				const struct given *given, PyObject *const *objects)
{
	const uint32_t count = definition->count;
	size_t size = definition->fixed_size;
	bool own_objects = false, goes_on = true;
	uint32_t index = 0;

	for (; index < given->own_count && index < count; index++) {
		values->of[index].plain = given->own[index].plain;
		values->of[index].owned = NULL;
		size += given->own[index].plain.length;
	}
	for (; goes_on && index < count; index++) {
		const enum type type = definition->types[index];
		struct value *value = &values->of[index];
		PyObject *object = objects[index - given->own_count];

		if (UNLIKELY(!value_read_usual(value, type, object))) {
			const enum fit fit = value_read(value, type, object);

			if (UNLIKELY(fit != FIT_WHOLE))
				goes_on = misfit_of_value(definition, index, object, fit);
			own_objects |= value->owned != NULL;
		}
		size += value->plain.length;
	}
	values->count = index;
	values->size = size;
	values->own_objects = own_objects;
	return goes_on;
}

static inline void release_values(const struct values *values)
{
	if (LIKELY(!values->own_objects))
		return;
	for (uint32_t index = 0; index < values->count; index++)
		Py_XDECREF(values->of[index].owned);
}

static APART bool passes_filter(const struct definition *definition, const void *ip,
				const struct values *values)
{
	struct vestige_value plain[MOST_FIELDS];

	for (uint32_t index = 0; index < definition->count; index++)
		plain[index] = values->of[index].plain;
	return tracer->passes(&definition->event.event, plain, ip);
}

static inline void record_values(const struct definition *definition, uint64_t place,
				 const struct values *values)
{
	const struct vestige_event *event = &definition->event.event;
	const void *ip = (const void *) (uintptr_t) place;
	struct vestige_record record;

	if (UNLIKELY(event->filter != NULL) && !passes_filter(definition, ip, values))
		return;
	if (!tracer->begin(event, &record, values->size, ip))
		return;
	for (uint32_t index = 0; index < definition->count; index++)
		value_put(&record, definition->types[index], &values->of[index].plain);
	tracer->commit(&record);
}

/* Record an event, with no exception set; false when there is one then. */
static INLINED bool record_given(struct definition *definition, uint64_t place,
				 const struct given *given)
{
	PyObject *sorted[MOST_FIELDS];
	PyObject *const *objects = given->objects;
	struct values values;
	bool goes_on;

	if (UNLIKELY(!are_sorted(definition, given))) {
		if (!sort_objects(definition, sorted, given))
			return false;
		objects = sorted + given->own_count;
	}
	goes_on = read_values(definition, &values, given, objects);
	if (LIKELY(goes_on) && event_is_recorded(&definition->event)) {
		program_contexts_refresh();
		record_values(definition, place, &values);
	}
	release_values(&values);
	return goes_on;
}

/* The same while an exception is set, which stays. */
static APART bool record_in_between(struct definition *definition, uint64_t place,
				    const struct given *given)
{
	PyObject *error_type, *error, *traceback;

	PyErr_Fetch(&error_type, &error, &traceback);
	if (record_given(definition, place, given)) {
		PyErr_Restore(error_type, error, traceback);
		return true;
	}
	Py_XDECREF(error_type);
	Py_XDECREF(error);
	Py_XDECREF(traceback);
	return false;
}

static INLINED bool record(struct definition *definition, uint64_t place,
			   const struct given *given)
{
	return LIKELY(!PyErr_Occurred()) ? record_given(definition, place, given)
					 : record_in_between(definition, place, given);
}

bool point_record(PyObject *point, uint64_t place, PyObject *const *arguments, Py_ssize_t count,
		  PyObject *names)
{
	const struct given given = {.objects = arguments, .count = count, .names = names};

	return record(((struct point *) point)->definition, place, &given);
}

bool point_record_behind(PyObject *point, uint64_t place, const struct value *own,
			 uint32_t own_count, PyObject *const *arguments, Py_ssize_t count,
			 PyObject *names)
{
	const struct given given = {own, own_count, arguments, count, names};

	return record(((struct point *) point)->definition, place, &given);
}

uint64_t point_place_of_caller(PyObject *point)
{
	return site_of_caller(&((struct point *) point)->definition->site);
}

static bool point_is_recorded(PyObject *point)
{
	return event_is_recorded(&((struct point *) point)->definition->event);
}

bool point_is_wanted(PyObject *point)
{
	return point_is_recorded(point) || ((struct point *) point)->definition->is_strict;
}

static PyObject *none_or_error(bool goes_on)
{
	if (UNLIKELY(!goes_on))
		return NULL;
	Py_RETURN_NONE;
}

static PyObject *point_call(PyObject *self, PyObject *const *arguments, size_t count,
			    PyObject *names)
{
	struct definition *definition = ((struct point *) self)->definition;

	if (UNLIKELY(event_is_recorded(&definition->event)))
		return none_or_error(point_record(self, site_of_caller(&definition->site),
						  arguments,
						  (Py_ssize_t) (count & ARGUMENT_COUNT), names));
	Py_RETURN_NONE;
}

/* The same where misfits are exceptions, whether it is recorded or not. */
static PyObject *point_call_strictly(PyObject *self, PyObject *const *arguments, size_t count,
				     PyObject *names)
{
	const uint64_t place = point_is_recorded(self) ? place_of_caller() : 0;

	return none_or_error(point_record(self, place, arguments,
					  (Py_ssize_t) (count & ARGUMENT_COUNT), names));
}

/* Record with the place of a code object's beginning. */
static PyObject *point_at(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	if (count > 0 && point_is_wanted(self))
		return none_or_error(point_record(self, place_of_code(arguments[0]),
						  arguments + 1, count - 1, NULL));
	Py_RETURN_NONE;
}

/* Record with the place that a frame has come to. */
static PyObject *point_at_frame(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	if (count > 0 && point_is_recorded(self))
		return none_or_error(point_record(self,
						  place_of_frame((PyFrameObject *) arguments[0]),
						  arguments + 1, count - 1, NULL));
	Py_RETURN_NONE;
}

static PyObject *get_enabled(PyObject *self, void *closure)
{
	(void) closure;
	return PyBool_FromLong(point_is_recorded(self));
}

static PyObject *get_name(PyObject *self, void *closure)
{
	const struct definition *definition = ((struct point *) self)->definition;

	(void) closure;
	return PyUnicode_FromFormat("%s:%s", definition->event.provider.name,
				    definition->event.event.name);
}

static PyObject *get_fields(PyObject *self, void *closure)
{
	const struct definition *definition = ((struct point *) self)->definition;
	PyObject *result = PyDict_New();

	(void) closure;
	for (uint32_t index = 0; result && index < definition->count; index++) {
		PyObject *type = PyUnicode_FromString(type_names[definition->types[index]]);

		if (!type || PyDict_SetItem(result, definition->names[index], type) != 0)
			Py_CLEAR(result);
		Py_XDECREF(type);
	}
	return result;
}

static PyObject *point_repr(PyObject *self)
{
	const struct definition *definition = ((struct point *) self)->definition;

	return PyUnicode_FromFormat("<tracepoint %s:%s%s>", definition->event.provider.name,
				    definition->event.event.name,
				    point_is_recorded(self) ? ", recorded" : "");
}

static bool define_field(struct definition *definition, PyObject *pair)
{
	const uint32_t index = definition->count;
	PyObject *name;
	int type;

	if (!PyTuple_Check(pair) || !PyArg_ParseTuple(pair, "Ui", &name, &type))
		return false;
	if (index >= MOST_FIELDS || type < 0 || type >= TYPE_COUNT) {
		PyErr_SetString(PyExc_ValueError, "too many fields, or an unknown type");
		return false;
	}
	Py_INCREF(name);
	PyUnicode_InternInPlace(&name);
	definition->names[index] = name;
	definition->types[index] = (uint8_t) type;
	definition->fields[index] = type_fields[type];
	definition->fields[index].name = text_of(name);
	definition->fixed_size += value_fixed_size((enum type) type);
	definition->count++;
	return true;
}

static void definition_free(struct definition *definition)
{
	if (!definition)
		return;
	for (uint32_t index = 0; index < definition->count; index++)
		Py_DECREF(definition->names[index]);
	Py_XDECREF(definition->usual_names);
	free(definition->provider);
	free(definition->name);
	free(definition);
}

/* NULL with an exception. */
static struct definition *definition_new(const char *provider, const char *name, PyObject *fields)
{
	struct definition *definition = calloc(1, sizeof(*definition));

	if (definition) {
		definition->provider = strdup(provider);
		definition->name = strdup(name);
	}
	if (!definition || !definition->provider || !definition->name) {
		definition_free(definition);
		PyErr_NoMemory();
		return NULL;
	}
	for (Py_ssize_t index = 0; index < PyTuple_Size(fields); index++) {
		if (define_field(definition, PyTuple_GetItem(fields, index)))
			continue;
		definition_free(definition);
		return NULL;
	}
	return definition;
}

static PyObject *point_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
	const allocfunc allocate = (allocfunc) PyType_GetSlot(type, Py_tp_alloc);
	const char *provider, *name;
	struct definition *definition;
	struct point *point;
	PyObject *fields;
	int level;
	int is_strict = 0;

	(void) keywords;
	if (!PyArg_ParseTuple(arguments, "ssiO!|p", &provider, &name, &level, &PyTuple_Type,
			      &fields, &is_strict))
		return NULL;
	definition = definition_new(provider, name, fields);
	point = definition ? (struct point *) (void *) allocate(type, 0) : NULL;
	if (!point) {
		definition_free(definition);
		return NULL;
	}
	point->vectorcall = is_strict ? point_call_strictly : point_call;
	point->definition = definition;
	definition->is_strict = is_strict;
	event_define(&definition->event, definition->provider, definition->name, level,
		     definition->fields, definition->count, 0);
	return (PyObject *) point;
}

static PyMemberDef members[] = {
	{"__vectorcalloffset__", T_PYSSIZET, offsetof(struct point, vectorcall), READONLY, NULL},
	{NULL, 0, 0, 0, NULL},
};

static PyGetSetDef attributes[] = {
	{"enabled", get_enabled, NULL, "Whether the event is recorded.", NULL},
	{"name", get_name, NULL, "The name of the event, with its provider.", NULL},
	{"fields", get_fields, NULL, "The types of the fields, by their names.", NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef methods[] = {
	{"at", (PyCFunction) (void (*)(void)) point_at, METH_FASTCALL,
	 "Record an event at the beginning of a code object."},
	{"at_frame", (PyCFunction) (void (*)(void)) point_at_frame, METH_FASTCALL,
	 "Record an event where a frame is."},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_new, point_new},
	{Py_tp_call, PyVectorcall_Call},
	{Py_tp_repr, point_repr},
	{Py_tp_members, members},
	{Py_tp_getset, attributes},
	{Py_tp_methods, methods},
	{Py_tp_doc, "A tracepoint: called with the values of its fields, it records an event."},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "vestige.instrument._native.Tracepoint",
	.basicsize = sizeof(struct point),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = slots,
};

PyObject *point_type;

bool points_start(PyObject *module)
{
	sites_start();
	if (!point_type)
		point_type = PyType_FromSpec(&spec);
	return point_type && PyModule_AddObjectRef(module, "Tracepoint", point_type) == 0;
}
