/* Recording all calls: versions of Python differ in how one learns of them. */
#include "tracing.h"

#include <stdlib.h>

#include "arguments.h"
#include "call_events.h"
#include "event.h"
#include "frames.h"
#include "monitoring.h"
#include "profile.h"
#include "stacks.h"

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

/* Whether the interpreter that was traced has ended; a program may begin another one. */
static bool has_ended;

static void note_end(void)
{
	has_ended = true;
}

PyObject *tracing_start(PyObject *module, PyObject *arguments)
{
	unsigned int depth;
	unsigned long long least;
	int builtins, has_arguments;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "pIKp", &builtins, &depth, &least, &has_arguments))
		return NULL;
	if (tracer && has_ended)
		calls_say_not_recorded("functions of Python",
				       "the program has initialized Python again");
	if (!tracer || calls_are_defined() || !calls_define())
		Py_RETURN_FALSE;
	arguments_start(has_arguments);
	stacks_limit(depth, least);
	if (start(builtins)) {
		Py_AtExit(note_end);
		Py_RETURN_TRUE;
	}
	PyErr_Clear();
	calls_say_not_recorded("functions of Python",
			       "other tools have taken all that tells of calls");
	Py_RETURN_FALSE;
}
