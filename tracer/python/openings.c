/*
 * Openings: each time that a span begins, with its number, its parent and its task.
 *
 * Functions of the interpreter that its limited API leaves out are looked for at run time.
 */
#define _GNU_SOURCE
#include "openings.h"

#include <dlfcn.h>
#include <time.h>

static PyTypeObject *opening_type;
static uint64_t last_id;
/* What ends one. */
static PyObject *(*leave_opening)(struct opening *opening, PyObject *failure);

static PyObject *variable;
static int (*get_variable)(PyObject *variable, PyObject *otherwise, PyObject **value);
static PyObject *(*set_variable)(PyObject *variable, PyObject *value);

/* Of asyncio, once the program has imported it. */
static PyObject *running_loop;
static PyObject *current_tasks;
static PyObject *current_task;

/* --- the context --- */

PyObject *opening_read_variable(PyObject *of_program)
{
	PyObject *value = NULL;

	if (!get_variable || get_variable(of_program, NULL, &value) != 0)
		PyErr_Clear();
	return value;
}

/* The innermost opening of the context; a new reference or NULL. */
static struct opening *innermost(void)
{
	PyObject *value = NULL;

	if (!variable || get_variable(variable, NULL, &value) != 0) {
		PyErr_Clear();
		return NULL;
	}
	if (value && Py_TYPE(value) == opening_type)
		return (struct opening *) value;
	Py_XDECREF(value);
	return NULL;
}

static void set_innermost(struct opening *opening)
{
	PyObject *token;

	if (!variable)
		return;
	token = set_variable(variable, opening ? (PyObject *) opening : Py_None);
	if (!token)
		PyErr_Clear();
	Py_XDECREF(token);
}

/* Replace a reference to an opening; the new one is taken over. */
static void replace(struct opening **place, struct opening *opening)
{
	struct opening *former = *place;

	*place = opening;
	Py_XDECREF((PyObject *) former);
}

static struct opening *held(struct opening *opening)
{
	Py_XINCREF((PyObject *) opening);
	return opening;
}

static bool has_within(const struct opening *outer, const struct opening *inner)
{
	for (; inner; inner = inner->before)
		if (inner == outer)
			return true;
	return false;
}

/* --- tasks --- */

static PyObject *attribute_of(PyObject *module, const char *name)
{
	PyObject *found = PyObject_GetAttrString(module, name);

	if (!found)
		PyErr_Clear();
	return found;
}

static bool has_asyncio(void)
{
	static PyObject *name;
	PyObject *modules, *module;

	if (LIKELY(running_loop != NULL))
		return true;
	if (!name)
		name = PyUnicode_InternFromString("_asyncio");
	modules = PyImport_GetModuleDict();
	module = modules && name ? PyDict_GetItemWithError(modules, name) : NULL;
	if (!module)
		return false;
	/* A function of C since Python 3.12; before, one of Python that looks here. */
	current_task = attribute_of(module, "current_task");
	current_tasks = attribute_of(module, "_current_tasks");
	if (current_task || current_tasks)
		running_loop = attribute_of(module, "_get_running_loop");
	return running_loop != NULL;
}

static PyObject *task_of(PyObject *loop)
{
	PyObject *task;

	if (current_task)
		return PyObject_CallFunctionObjArgs(current_task, loop, NULL);
	task = PyDict_GetItemWithError(current_tasks, loop);
	Py_XINCREF(task);
	return task;
}

/* The name of the asyncio task that runs, or NULL. */
static PyObject *task_name(void)
{
	PyObject *loop = has_asyncio() ? PyObject_CallNoArgs(running_loop) : NULL;
	PyObject *task = loop && loop != Py_None ? task_of(loop) : NULL;
	PyObject *name = NULL;

	if (task && task != Py_None)
		name = PyObject_CallMethod(task, "get_name", NULL);
	Py_XDECREF(task);
	Py_XDECREF(loop);
	if (UNLIKELY(!name && PyErr_Occurred()))
		PyErr_Clear();
	if (!name || PyUnicode_Check(name))
		return name;
	Py_DECREF(name);
	return NULL;
}

/* --- openings --- */

uint64_t opening_new_id(void)
{
	return __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
}

uint64_t opening_id_of_context(void)
{
	struct opening *opening = innermost();
	const uint64_t id = opening ? opening->id : 0;

	Py_XDECREF((PyObject *) opening);
	return id;
}

struct opening *opening_new(struct span *span, PyObject *code)
{
	const allocfunc allocate = (allocfunc) PyType_GetSlot(opening_type, Py_tp_alloc);
	struct opening *opening = (struct opening *) (void *) allocate(opening_type, 0);

	if (!opening)
		return NULL;
	Py_INCREF((PyObject *) span);
	Py_XINCREF(code);
	opening->span = span;
	opening->code = code;
	opening->id = opening_new_id();
	opening->before = innermost();
	opening->parent_id = opening->before ? opening->before->id : 0;
	opening->next = span->open;
	if (opening->next)
		opening->next->previous = opening;
	span->open = held(opening);
	set_innermost(opening);
	return opening;
}

PyObject *opening_values(const struct opening *opening, struct value *values)
{
	PyObject *task = task_name();

	value_set_int(&values[0], (int64_t) opening->id);
	value_set_int(&values[1], (int64_t) opening->parent_id);
	value_read_text(&values[2], task);
	return task;
}

struct opening *opening_of(const struct span *span)
{
	struct opening *inner = innermost();
	struct opening *found = inner;

	while (found && (found->span != span || found->is_ended))
		found = found->before;
	Py_XDECREF((PyObject *) inner);
	/* Entered in another context, as when a task ends what another one began. */
	if (!found && span->open && !span->open->next)
		found = span->open;
	return found;
}

static void leave_context(struct opening *opening)
{
	struct opening *inner = innermost();
	struct opening *before = opening->before;

	if (inner == opening) {
		while (before && before->is_skipped)
			before = before->before;
		set_innermost(before);
	} else {
		opening->is_skipped = has_within(opening, inner);
	}
	Py_XDECREF((PyObject *) inner);
}

void opening_end(struct opening *opening)
{
	if (opening->is_ended)
		return;
	opening->is_ended = true;
	leave_context(opening);
	if (opening->next)
		opening->next->previous = opening->previous;
	if (opening->previous)
		opening->previous->next = opening->next;
	else
		opening->span->open = opening->next;
	opening->next = opening->previous = NULL;
	Py_DECREF((PyObject *) opening);
}

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* A generator waits: what runs now is not within it. */
static PyObject *opening_suspend(PyObject *self, PyObject *unused)
{
	struct opening *opening = (struct opening *) self;
	struct opening *inner = innermost();

	(void) unused;
	opening->waits_since = now();
	if (!opening->is_ended && has_within(opening, inner)) {
		replace(&opening->inner, held(inner));
		set_innermost(opening->before);
	}
	Py_XDECREF((PyObject *) inner);
	Py_RETURN_NONE;
}

static PyObject *opening_resume(PyObject *self, PyObject *unused)
{
	struct opening *opening = (struct opening *) self;
	struct opening *around;

	(void) unused;
	if (opening->waits_since)
		opening->waited += now() - opening->waits_since;
	opening->waits_since = 0;
	if (opening->inner) {
		around = innermost();
		/* No circle, whatever the program does with its contexts. */
		if (has_within(opening, around)) {
			Py_XDECREF((PyObject *) around);
		} else {
			replace(&opening->before, around);
			set_innermost(opening->inner);
		}
		replace(&opening->inner, NULL);
	}
	Py_RETURN_NONE;
}

/* One after the other: a recursion could be too deep. */
static void release_chain(struct opening *opening)
{
	while (opening && Py_REFCNT((PyObject *) opening) == 1) {
		struct opening *before = opening->before;

		opening->before = NULL;
		Py_DECREF((PyObject *) opening);
		opening = before;
	}
	Py_XDECREF((PyObject *) opening);
}

static PyObject *opening_enter(PyObject *self, PyObject *unused)
{
	(void) unused;
	Py_INCREF(self);
	return self;
}

static PyObject *opening_exit(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
	return leave_opening((struct opening *) self, count > 0 ? arguments[0] : NULL);
}

static void opening_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);
	const freefunc release = (freefunc) PyType_GetSlot(type, Py_tp_free);
	struct opening *opening = (struct opening *) self;

	release_chain(opening->before);
	replace(&opening->inner, NULL);
	Py_CLEAR(opening->code);
	Py_XDECREF((PyObject *) opening->span);
	release(self);
	Py_DECREF(type);
}

static PyMethodDef methods[] = {
	{"__enter__", opening_enter, METH_NOARGS, "Do nothing: it has begun."},
	{"__exit__", (PyCFunction) (void (*)(void)) opening_exit, METH_FASTCALL,
	 "Record the exit."},
	{"suspend", opening_suspend, METH_NOARGS, "Leave the context while a generator waits."},
	{"resume", opening_resume, METH_NOARGS, "Come back to the context."},
	{NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
	{Py_tp_dealloc, opening_free},
	{Py_tp_methods, methods},
	{Py_tp_doc, "A span that has begun."},
	{0, NULL},
};

static PyType_Spec spec = {
	.name = "vestige.instrument._native.Opening",
	.basicsize = sizeof(struct opening),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = slots,
};

bool openings_start(PyObject *(*leave)(struct opening *opening, PyObject *failure))
{
	PyObject *(*new_variable)(const char *name, PyObject *otherwise);

	leave_opening = leave;
	if (opening_type)
		return true;
	opening_type = (PyTypeObject *) PyType_FromSpec(&spec);
	*(void **) &new_variable = dlsym(RTLD_DEFAULT, "PyContextVar_New");
	*(void **) &get_variable = dlsym(RTLD_DEFAULT, "PyContextVar_Get");
	*(void **) &set_variable = dlsym(RTLD_DEFAULT, "PyContextVar_Set");
	if (new_variable && get_variable && set_variable)
		variable = new_variable("vestige.span", NULL);
	if (!variable)
		PyErr_Clear();
	return opening_type != NULL;
}
