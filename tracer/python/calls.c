/*
 * Calls of Python functions: entries and exits.
 *
 * A generator is entered each time it goes on, and left each time it yields. What raises an
 * exception is left, too. Versions of Python differ in how one learns of calls.
 */
#define _GNU_SOURCE
#include "greenlets.h"

#include <stdlib.h>

#include "stacks.h"

static const struct vestige_field fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
};

static const struct vestige_field entry_fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
	{.name = "id", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "is_resumed", .kind = VESTIGE_INTEGER, .size = 1},
};
static const struct vestige_field exit_fields[] = {
	{.name = "addr", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
	{.name = "id", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "is_suspended", .kind = VESTIGE_INTEGER, .size = 1},
};
static const struct vestige_field reason_fields[] = {
	{.name = "what", .kind = VESTIGE_STRING},
	{.name = "reason", .kind = VESTIGE_STRING},
};

static struct own_event entry_event;
static struct own_event exit_event;
static struct own_event step_entry_event;
static struct own_event step_exit_event;

static inline void put_and_commit(struct vestige_record *record, uint64_t place)
{
	put_place(record, place);
	tracer->commit(record);
}

static inline void record_place(const struct own_event *event, uint64_t place)
{
	struct vestige_record record;

	if (place && tracer->begin(&event->event, &record, PLACE_SIZE,
				   (const void *) (uintptr_t) place))
		put_and_commit(&record, place);
}

static void record_step(const struct own_event *event, uint64_t place, const void *id, bool flag)
{
	const uint64_t number = (uintptr_t) id;
	const uint8_t byte = flag;
	struct vestige_record record;

	if (!place || !tracer->begin(&event->event, &record,
				     PLACE_SIZE + sizeof(number) + sizeof(byte),
				     (const void *) (uintptr_t) place))
		return;
	put_place(&record, place);
	put(&record, &number, sizeof(number));
	put(&record, &byte, sizeof(byte));
	tracer->commit(&record);
}

static __attribute__((noinline, cold)) void say_late(void)
{
	static bool is_said;

	if (is_said)
		return;
	is_said = true;
	calls_say_not_recorded("the beginning of some functions of Python",
			       "compiled code was recorded within calls that --min-duration "
			       "held back: they seem to begin after it");
}

/* An entry that was held back: something may have been recorded meanwhile. */
static void record_late(uint64_t place, uint64_t time)
{
	struct vestige_record record;
	const int answer = tracer->begin_at(&entry_event.event, &record, PLACE_SIZE,
					    (const void *) (uintptr_t) place, time);

	if (answer)
		put_and_commit(&record, place);
	if (UNLIKELY(answer > 1))
		say_late();
}

void calls_write_entry(uint64_t place, uint64_t time)
{
	if (time)
		record_late(place, time);
	else
		record_place(&entry_event, place);
}

void calls_write_exit(uint64_t place)
{
	record_place(&exit_event, place);
}

void calls_write_step_entry(uint64_t place, const void *id, bool is_resumed)
{
	record_step(&step_entry_event, place, id, is_resumed);
}

void calls_write_step_exit(uint64_t place, const void *id, bool is_suspended)
{
	record_step(&step_exit_event, place, id, is_suspended);
}

void calls_enter(uint64_t place)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_enter(place, NULL, false))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_enter(place);
	else
		record_place(&entry_event, place);
}

void calls_leave(uint64_t place)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_leave(place, false))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_leave(place);
	else
		record_place(&exit_event, place);
}

void calls_enter_step(uint64_t place, const void *id, bool is_resumed)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_enter(place, id, is_resumed))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_enter_step(place, id, is_resumed);
	else
		record_step(&step_entry_event, place, id, is_resumed);
}

void calls_leave_step(uint64_t place, const void *id, bool is_suspended)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_leave(place, is_suspended))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_leave_step(place, id, is_suspended);
	else
		record_step(&step_exit_event, place, id, is_suspended);
}

void calls_say_not_recorded(const char *what, const char *reason)
{
	static struct own_event event;
	const size_t what_size = strlen(what) + 1;
	const size_t reason_size = strlen(reason) + 1;
	struct vestige_record record;

	if (!event.provider.name)
		event_define(&event, "vestige_python", "not_recorded", LEVEL_LINE, reason_fields,
			     2, VESTIGE_PYTHON_NOT_RECORDED);
	if (!event_is_recorded(&event) ||
	    !tracer->begin(&event.event, &record, what_size + reason_size, NULL))
		return;
	put(&record, what, what_size);
	put(&record, reason, reason_size);
	tracer->commit(&record);
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

/* Whether the interpreter that was traced has ended; a program may begin another one. */
static bool has_ended;

static void note_end(void)
{
	has_ended = true;
}

PyObject *calls_trace(PyObject *module, PyObject *arguments)
{
	unsigned int depth;
	unsigned long long least;
	int builtins;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "pIK", &builtins, &depth, &least))
		return NULL;
	if (tracer && has_ended)
		calls_say_not_recorded("functions of Python",
				       "the program has initialized Python again");
	if (!tracer || entry_event.provider.name)
		Py_RETURN_FALSE;
	event_define(&entry_event, "vestige_python", "func_entry", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_ENTRY);
	event_define(&exit_event, "vestige_python", "func_exit", LEVEL_FUNCTION, fields, 1,
		     VESTIGE_PYTHON_EXIT);
	event_define(&step_entry_event, "vestige_python", "coroutine_entry", LEVEL_FUNCTION,
		     entry_fields, 3, VESTIGE_PYTHON_COROUTINE_ENTRY);
	event_define(&step_exit_event, "vestige_python", "coroutine_exit", LEVEL_FUNCTION,
		     exit_fields, 3, VESTIGE_PYTHON_COROUTINE_EXIT);
	if (!event_is_recorded(&entry_event) || !event_is_recorded(&exit_event))
		Py_RETURN_FALSE;
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
