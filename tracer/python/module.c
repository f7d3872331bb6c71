/* The module: what the tracer and the interpreter offer. */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>

#include "../link/tracer_path.h"
#include "../link/waiting.h"
#include "choice.h"
#include "event.h"
#include "greenlets.h"
#include "late.h"
#include "pauses.h"
#include "places.h"
#include "points.h"
#include "program_contexts.h"
#include "spans.h"
#include "tracing.h"

/* Which functions and arguments the module has, as in vestige/instrument/_extension.py. Change both
 * numbers when one of them is changed. */
#define INTERFACE 4
/* The tracer of a recorder, else that of a session daemon: where one has been, the program registers,
 * and elsewhere it waits for the first. */
static const void *find_tracer(bool *must_wait)
{
	const void *found = dlsym(RTLD_DEFAULT, "vestige_tracer");

	*must_wait = false;
	if (found || !vestige_link_choose_places())
		return found;
	/* The program waits for the rules; other threads of it do not. */
	Py_BEGIN_ALLOW_THREADS if (vestige_link_load_tracer()) found =
		dlsym(RTLD_DEFAULT, "vestige_tracer");
	Py_END_ALLOW_THREADS *must_wait = !found;
	return found;
}

/* A tracer may be there that waits for a session daemon. */
static PyObject *is_recorded(PyObject *module, PyObject *unused)
{
	const struct vestige_tracer *found = __atomic_load_n(&tracer, __ATOMIC_RELAXED);

	(void) module;
	(void) unused;
	return PyBool_FromLong(
		found &&
		(found->struct_size < offsetof(struct vestige_tracer, is_recorded) +
				 sizeof(found->is_recorded) ||
		 found->is_recorded()));
}

static PyMethodDef methods[] = {
	{"add_context", program_contexts_add, METH_VARARGS, "Have a context of the program."},
	{"choose_functions", choice_set, METH_VARARGS, "Record calls of some functions only."},
	{"follow_collections", pauses_follow, METH_VARARGS, "Record collections of garbage."},
	{"follow_greenlets", greenlets_follow, METH_O, "Record greenlets as coroutines."},
	{"is_recorded", is_recorded, METH_NOARGS, "Whether a tracer records."},
	{"read_contexts", program_contexts_set, METH_NOARGS, "Let the thread have its values."},
	{"trace_calls", tracing_start, METH_VARARGS, "Record calls of functions from now on."},
	{NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "vestige.instrument._native",
	.m_doc = "Tracepoints of Python programs.",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
	static bool is_waiting;
	bool must_wait;
	const struct vestige_tracer *found = late_check(find_tracer(&must_wait));
	PyObject *module = PyModule_Create(&definition);

	/* The module may be there twice, with different names. */
	if (!tracer && found)
		tracer = found;
	if (!module || !places_start() || !points_start(module) || !spans_start(module) ||
	    PyModule_AddIntConstant(module, "interface", INTERFACE) != 0)
		return NULL;
	if (must_wait && !is_waiting) {
		is_waiting = true;
		/* The interpreter unloads no extension: its thread may be here. */
		vestige_link_wait(late_begin);
	}
	return module;
}
