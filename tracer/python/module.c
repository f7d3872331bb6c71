/* The module: what the tracer and the interpreter offer. */
#define _GNU_SOURCE
#include "native.h"

#include <dlfcn.h>

#include "../base/version.h"
#include "../link/tracer_path.h"
#include "choice.h"
#include "event.h"
#include "greenlets.h"
#include "pauses.h"
#include "places.h"
#include "points.h"
#include "program_contexts.h"
#include "spans.h"
#include "tracing.h"

/* Which functions and arguments the module has, as in vestige/instrument/_extension.py. Change both
 * numbers when one of them is changed. */
#define INTERFACE 2
/* What all tracers have that know of Python; later ones have more. */
#define LEAST_TRACER offsetof(struct vestige_tracer, now)

/* Whether the tracer is of a build that knows the same classes of events; else the recording
 * tells of us. */
static bool is_agreed(void)
{
	const char *agreement = dlsym(RTLD_DEFAULT, "vestige_agreement");
	void (*refuse)(const char *agreement, const char *version, const char *name);

	if (agreement && !strncmp(agreement, AGREEMENT " ", sizeof(AGREEMENT)))
		return true;
	*(void **) &refuse = dlsym(RTLD_DEFAULT, "vestige_refuse");
	if (refuse)
		refuse(AGREEMENT, VESTIGE_VERSION, "vestige.instrument");
	return false;
}

/* The tracer of a recorder, else that of a session daemon: where one has been, the program registers. */
static const struct vestige_tracer *find_tracer(void)
{
	const void *found = dlsym(RTLD_DEFAULT, "vestige_tracer");

	if (found || !vestige_link_choose_places())
		return found;
	/* The program waits for the rules; other threads of it do not. */
	Py_BEGIN_ALLOW_THREADS if (vestige_link_load_tracer()) found =
		dlsym(RTLD_DEFAULT, "vestige_tracer");
	Py_END_ALLOW_THREADS return found;
}

static PyMethodDef methods[] = {
	{"add_context", program_contexts_add, METH_VARARGS, "Have a context of the program."},
	{"choose_functions", choice_set, METH_VARARGS, "Record calls of some functions only."},
	{"follow_collections", pauses_follow, METH_VARARGS, "Record collections of garbage."},
	{"follow_greenlets", greenlets_follow, METH_O, "Record greenlets as coroutines."},
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
	const struct vestige_tracer *found = find_tracer();
	PyObject *module = PyModule_Create(&definition);

	/* The module may be there twice, with different names. */
	if (!tracer && found && found->struct_size >= LEAST_TRACER && is_agreed())
		tracer = found;
	if (!module || !places_start() || !points_start(module) || !spans_start(module) ||
	    PyModule_AddIntConstant(module, "interface", INTERFACE) != 0 ||
	    PyModule_AddObjectRef(module, "has_tracer", tracer ? Py_True : Py_False) != 0)
		return NULL;
	return module;
}
