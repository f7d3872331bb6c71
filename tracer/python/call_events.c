/* Writes the events of calls. */
#include "call_events.h"

#include "program_contexts.h"

static const struct vestige_field fields[] = {
	{.name = "addr",
	 .kind = VESTIGE_INTEGER,
	 .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
};

static const struct vestige_field entry_fields[] = {
	{.name = "addr",
	 .kind = VESTIGE_INTEGER,
	 .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
	{.name = "id", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "is_resumed", .kind = VESTIGE_INTEGER, .size = 1},
};
static const struct vestige_field exit_fields[] = {
	{.name = "addr",
	 .kind = VESTIGE_INTEGER,
	 .flags = VESTIGE_HEXADECIMAL,
	 .size = PLACE_SIZE},
	{.name = "id", .kind = VESTIGE_INTEGER, .flags = VESTIGE_HEXADECIMAL, .size = 8},
	{.name = "is_suspended", .kind = VESTIGE_INTEGER, .size = 1},
};
static const struct vestige_field reason_fields[] = {
	{.name = "what", .kind = VESTIGE_STRING},
	{.name = "reason", .kind = VESTIGE_STRING},
};

struct own_event calls_entry_event;
struct own_event calls_exit_event;
static struct own_event step_entry_event;
static struct own_event step_exit_event;

static void record_step(const struct own_event *event, uint64_t place, const void *id, bool flag,
			const struct call_text *text)
{
	const struct vestige_value values[] = {
		{.as.integer = (int64_t) place},
		{.as.integer = (int64_t) (uintptr_t) id},
		{.as.integer = flag},
	};
	struct vestige_record record;

	/* Another task may have run meanwhile. */
	program_contexts_refresh();
	/* Both steps have the same fields, but for the names of the last ones. */
	if (!place || !event_takes(event, values, place) ||
	    !tracer->begin(&event->event, &record, STEP_ENTRY_FIELDS_SIZE + calls_text_size(text),
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
	const struct vestige_value values[] = {{.as.integer = (int64_t) place}};
	struct vestige_record record;
	int answer;

	if (!event_takes(&calls_entry_event, values, place))
		return;
	answer = tracer->begin_at(&calls_entry_event.event, &record,
				  ADDR_FIELDS_SIZE + calls_text_size(text),
				  (const void *) (uintptr_t) place, time);
	if (answer)
		calls_put(&record, place, text);
	if (UNLIKELY(answer > 1))
		say_late();
}

void calls_write_entry_text(uint64_t place, const struct call_frame *frame)
{
	struct call_text room;

	if (place)
		calls_write_place(&calls_entry_event, place, call_text_of_entry(frame, &room));
}

void calls_write_exit_text(uint64_t place, const struct call_end *end)
{
	struct call_text room;

	if (place)
		calls_write_place(&calls_exit_event, place, call_text_of_exit(end, &room));
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
	    !tracer->begin(&event.event, &record,
			   NOT_RECORDED_FIELDS_SIZE(what_size, reason_size), NULL))
		return;
	record.at = encode_not_recorded(record.at, what, what_size, reason, reason_size);
	tracer->commit(&record);
}

bool calls_define(void)
{
	event_define(&calls_entry_event, "vestige_python", "func_entry", LEVEL_FUNCTION, fields,
		     1, EVENT_PYTHON_ENTRY);
	event_define(&calls_exit_event, "vestige_python", "func_exit", LEVEL_FUNCTION, fields, 1,
		     EVENT_PYTHON_EXIT);
	event_define(&step_entry_event, "vestige_python", "coroutine_entry", LEVEL_FUNCTION,
		     entry_fields, 3, EVENT_PYTHON_COROUTINE_ENTRY);
	event_define(&step_exit_event, "vestige_python", "coroutine_exit", LEVEL_FUNCTION,
		     exit_fields, 3, EVENT_PYTHON_COROUTINE_EXIT);
	return event_is_recorded(&calls_entry_event) || event_is_recorded(&calls_exit_event) ||
		event_is_recorded(&step_entry_event) || event_is_recorded(&step_exit_event);
}

bool calls_are_defined(void)
{
	return calls_entry_event.provider.name;
}
