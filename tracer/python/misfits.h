/* What is wrong with the values of an event (misfits.c). */
#ifndef VESTIGE_PYTHON_MISFITS_H
#define VESTIGE_PYTHON_MISFITS_H

#include "event.h"
#include "sites.h"
#include "values.h"

#define MOST_FIELDS 64
#define MOST_TOLD 32

/* What the tracer knows, which stays when the object goes. */
struct definition {
	struct own_event event;
	char *provider;
	char *name;
	uint32_t count;
	/* The names of the fields, which are interned. */
	PyObject *names[MOST_FIELDS];
	uint8_t types[MOST_FIELDS];
	/* Bytes of a record without the texts and bytes that its values have. */
	size_t fixed_size;
	/* The names of the last call whose named values were those of all fields, in their order. */
	PyObject *usual_names;
	uint32_t usual_count;
	struct site site;
	struct vestige_field fields[MOST_FIELDS];
	/* Misfits that were told: one line for each field and kind of value. */
	struct told {
		PyObject *type;
		uint8_t field;
		uint8_t fit;
	} told[MOST_TOLD];
	uint8_t told_count;
	/* Whether they are exceptions. */
	bool is_strict;
};

/* Both return false when an exception is set: where values must fit, or one that is not ours to
 * hide. */
__attribute__((cold)) bool misfit_of_value(struct definition *definition, uint32_t index,
					   PyObject *object, enum fit fit);
/* The name of no field, or NULL: too many values, of which there are `count`. */
__attribute__((cold)) bool misfit_of_arguments(struct definition *definition, PyObject *unknown,
					       Py_ssize_t count);

#endif
