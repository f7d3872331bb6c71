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

static inline void put_and_commit(struct vestige_record *record, uint64_t place,
				  const struct call_text *text)
{
	put_place(record, place);
	if (UNLIKELY(text))
		put(record, text->bytes, text->size);
	tracer->commit(record);
}

static inline size_t size_of(const struct call_text *text)
{
	return UNLIKELY(text) ? text->size : 0;
}

static inline void record_place(const struct own_event *event, uint64_t place,
				const struct call_text *text)
{
	struct vestige_record record;

	if (place && tracer->begin(&event->event, &record, ADDR_FIELDS_SIZE + size_of(text),
				   (const void *) (uintptr_t) place))
		put_and_commit(&record, place, text);
}

static void record_step(const struct own_event *event, uint64_t place, const void *id, bool flag,
			const struct call_text *text)
{
	struct vestige_record record;

	/* Both steps have the same fields, but for the names of the last ones. */
	if (!place || !tracer->begin(&event->event, &record,
				     STEP_ENTRY_FIELDS_SIZE + size_of(text),
				     (const void *) (uintptr_t) place))
		return;
	record.at = encode_step_entry(record.at, place, (uintptr_t) id, flag);
	if (text)
		put(&record, text->bytes, text->size);
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
void calls_write_late_entry(uint64_t place, uint64_t time, const struct call_text *text)
{
	struct vestige_record record;
	const int answer = tracer->begin_at(&entry_event.event, &record,
					    ADDR_FIELDS_SIZE + size_of(text),
					    (const void *) (uintptr_t) place, time);

	if (answer)
		put_and_commit(&record, place, text);
	if (UNLIKELY(answer > 1))
		say_late();
}

/* --- with arguments and results --- */

static __attribute__((noinline)) void enter_with_text(uint64_t place,
						      const struct call_frame *frame)
{
	struct call_text room;

	if (place)
		record_place(&entry_event, place, call_text_of_entry(frame, &room));
}

static __attribute__((noinline)) void leave_with_text(uint64_t place, const struct call_end *end)
{
	struct call_text room;

	if (place)
		record_place(&exit_event, place, call_text_of_exit(end, &room));
}

/* --- writing --- */

void calls_write_entry(uint64_t place, const struct call_frame *frame)
{
	if (UNLIKELY(arguments_are_recorded))
		enter_with_text(place, frame);
	else
		record_place(&entry_event, place, NULL);
}

void calls_write_exit(uint64_t place, const struct call_end *end)
{
	if (UNLIKELY(arguments_are_recorded))
		leave_with_text(place, end);
	else
		record_place(&exit_event, place, NULL);
}

/* Only the first step has arguments, and only the last one a result. */
void calls_write_step_entry(uint64_t place, const void *id, bool is_resumed,
			    const struct call_frame *frame)
{
	struct call_text room;

	record_step(&step_entry_event, place, id, is_resumed,
		    call_text_of_entry(is_resumed ? NULL : frame, &room));
}

void calls_write_step_exit(uint64_t place, const void *id, bool is_suspended,
			   const struct call_end *end)
{
	struct call_text room;

	record_step(&step_exit_event, place, id, is_suspended,
		    call_text_of_exit(is_suspended ? NULL : end, &room));
}

/* --- calls --- */

void calls_enter(uint64_t place, const struct call_frame *frame)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_enter(place, NULL, false, frame))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_enter(place, frame);
	else
		calls_write_entry(place, frame);
}

void calls_leave(uint64_t place, const struct call_end *end)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_leave(place, false, end))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_leave(place, end);
	else
		calls_write_exit(place, end);
}

void calls_enter_step(uint64_t place, const void *id, bool is_resumed,
		      const struct call_frame *frame)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_enter(place, id, is_resumed, frame))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_enter_step(place, id, is_resumed, frame);
	else
		calls_write_step_entry(place, id, is_resumed, frame);
}

void calls_leave_step(uint64_t place, const void *id, bool is_suspended,
		      const struct call_end *end)
{
	if (UNLIKELY(greenlets_are_followed) && greenlets_leave(place, is_suspended, end))
		return;
	if (UNLIKELY(stacks_are_used))
		stacks_leave_step(place, id, is_suspended, end);
	else
		calls_write_step_exit(place, id, is_suspended, end);
}

void calls_say_not_recorded(const char *what, const char *reason)
{
	static struct own_event event;
	const size_t what_size = strlen(what) + 1;
	const size_t reason_size = strlen(reason) + 1;
	struct vestige_record record;

	if (!event.provider.name)
		event_define(&event, "vestige_python", "not_recorded", LEVEL_LINE, reason_fields,
			     2, EVENT_PYTHON_NOT_RECORDED);
	if (!event_is_recorded(&event) ||
	    !tracer->begin(&event.event, &record, NOT_RECORDED_FIELDS_SIZE(what_size, reason_size), NULL))
		return;
	record.at = encode_not_recorded(record.at, what, what_size, reason, reason_size);
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
	int builtins, has_arguments;

	(void) module;
	if (!PyArg_ParseTuple(arguments, "pIKp", &builtins, &depth, &least, &has_arguments))
		return NULL;
	if (tracer && has_ended)
		calls_say_not_recorded("functions of Python",
				       "the program has initialized Python again");
	if (!tracer || entry_event.provider.name)
		Py_RETURN_FALSE;
	event_define(&entry_event, "vestige_python", "func_entry", LEVEL_FUNCTION, fields, 1,
		     EVENT_PYTHON_ENTRY);
	event_define(&exit_event, "vestige_python", "func_exit", LEVEL_FUNCTION, fields, 1,
		     EVENT_PYTHON_EXIT);
	event_define(&step_entry_event, "vestige_python", "coroutine_entry", LEVEL_FUNCTION,
		     entry_fields, 3, EVENT_PYTHON_COROUTINE_ENTRY);
	event_define(&step_exit_event, "vestige_python", "coroutine_exit", LEVEL_FUNCTION,
		     exit_fields, 3, EVENT_PYTHON_COROUTINE_EXIT);
	if (!event_is_recorded(&entry_event) || !event_is_recorded(&exit_event))
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
