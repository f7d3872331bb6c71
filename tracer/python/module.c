/* The module: what the tracer and the interpreter offer. */
#define _GNU_SOURCE
#include "choice.h"

#include <dlfcn.h>

#include "greenlets.h"
#include "../src/refusal.h"

/* Which functions and arguments the module has, as in vestige/instrument/_extension.py. Change both
 * numbers when one of them is changed. */
#define INTERFACE 1
/* What all tracers have that know of Python; later ones have more. */
#define LEAST_TRACER offsetof(struct vestige_tracer, now)

const struct vestige_tracer *tracer;

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

void event_define(struct own_event *event, const char *provider, const char *name,
		  int log_level, const struct vestige_field *fields, uint32_t field_count,
		  uint32_t id)
{
	event->event_class.struct_size = sizeof(event->event_class);
	event->event_class.field_count = field_count;
	event->event_class.fields = fields;
	event->event.struct_size = sizeof(event->event);
	event->event.id = id;
	event->event.name = name;
	event->event.event_class = &event->event_class;
	event->event.log_level = log_level;
	event->events[0] = &event->event;
	event->provider.struct_size = sizeof(event->provider);
	event->provider.event_count = 1;
	event->provider.name = provider;
	event->provider.events = event->events;
	event->point.struct_size = sizeof(event->point);
	event->point.provider = provider;
	event->point.name = name;
	if (!tracer)
		return;
	tracer->add_provider(&event->provider);
	tracer->add_tracepoint(&event->point);
}

static PyMethodDef methods[] = {
	{"choose_functions", choice_set, METH_VARARGS, "Record calls of some functions only."},
	{"follow_collections", pauses_follow, METH_VARARGS, "Record collections of garbage."},
	{"follow_greenlets", greenlets_follow, METH_O, "Record greenlets as coroutines."},
	{"trace_calls", calls_trace, METH_VARARGS, "Record calls of functions from now on."},
	{NULL, NULL, 0, NULL},
};

static PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "vestige.instrument._native",
	.m_doc = "Tracepoints of Python programs.",
	.m_size = -1,
	.m_methods = methods,
};

PyMODINIT_FUNC PyInit__native(void)
{
	const struct vestige_tracer *found = dlsym(RTLD_DEFAULT, "vestige_tracer");
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
