/*
 * Calls of Python functions: entries and exits.
 *
 * A generator is entered each time it goes on, and left each time it yields. What raises an
 * exception is left, too. Versions of Python differ in how one learns of calls.
 */
#define _GNU_SOURCE
#include "native.h"

#include <stdlib.h>

static const struct vestige_field fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
};

static struct own_event entry_event;
static struct own_event exit_event;

static inline void record_place(const struct own_event *event, uint64_t place)
{
	struct vestige_record record;

	if (!place || !tracer->begin(&event->event, &record, PLACE_SIZE,
				     (const void *) (uintptr_t) place))
		return;
	put_place(&record, place);
	tracer->commit(&record);
}

void calls_enter(uint64_t place)
{
	record_place(&entry_event, place);
}

void calls_leave(uint64_t place)
{
	record_place(&exit_event, place);
}

/* The minor version of Python 3. */
static long minor_version(void)
{
	return strncmp(Py_GetVersion(), "3.", 2) == 0 ? strtol(Py_GetVersion() + 2, NULL, 10) : 0;
}

static bool start(bool builtins)
{
	const long minor = minor_version();

	if (minor >= 12 && monitoring_start(builtins))
		return true;
	/* Before, only the profiling hook tells of C functions. */
	if (minor == 11 && !builtins && frames_start())
		return true;
	return profile_start(builtins);
}

PyObject *calls_trace(PyObject *module, PyObject *builtins)
{
	(void) module;
	if (!tracer || entry_event.provider.name)
		Py_RETURN_FALSE;
	event_define(&entry_event, "vestige_python", "func_entry", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_ENTRY);
	event_define(&exit_event, "vestige_python", "func_exit", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_EXIT);
	if (!event_is_recorded(&entry_event) || !event_is_recorded(&exit_event))
		Py_RETURN_FALSE;
	if (start(PyObject_IsTrue(builtins) == 1))
		Py_RETURN_TRUE;
	PyErr_Clear();
	Py_RETURN_FALSE;
}
