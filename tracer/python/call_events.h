/* The events of calls, as they are written. */
#ifndef VESTIGE_PYTHON_CALL_EVENTS_H
#define VESTIGE_PYTHON_CALL_EVENTS_H

#include "arguments.h"
#include "event.h"

extern struct own_event calls_entry_event HIDDEN;
extern struct own_event calls_exit_event HIDDEN;

/* Make the events known; false when they are not recorded. */
bool calls_define(void);
/* Whether that was done in this process. */
bool calls_are_defined(void);
/* With arguments or a result, where events have them. */
void calls_write_entry_text(uint64_t place, const struct call_frame *frame);
void calls_write_exit_text(uint64_t place, const struct call_end *end);
/* One that was held back since a time, with its text if events have one. */
void calls_write_late_entry(uint64_t place, uint64_t time, const struct call_text *text);
void calls_write_step_entry(uint64_t place, const void *id, bool is_resumed,
			    const struct call_frame *frame);
void calls_write_step_exit(uint64_t place, const void *id, bool is_suspended,
			   const struct call_end *end);
/* Say in the recording that something is not in it. */
void calls_say_not_recorded(const char *what, const char *reason);

static inline void calls_put(struct vestige_record *record, uint64_t place,
			     const struct call_text *text)
{
	put_place(record, place);
	if (UNLIKELY(text))
		put(record, text->bytes, text->size);
	tracer->commit(record);
}

static inline size_t calls_text_size(const struct call_text *text)
{
	return UNLIKELY(text) ? text->size : 0;
}

static inline void calls_write_place(const struct own_event *event, uint64_t place,
				     const struct call_text *text)
{
	const struct vestige_value values[] = {{.as.integer = (int64_t) place}};
	struct vestige_record record;

	if (place && event_takes(event, values, place) &&
	    tracer->begin(&event->event, &record, ADDR_FIELDS_SIZE + calls_text_size(text),
			  (const void *) (uintptr_t) place))
		calls_put(&record, place, text);
}

static inline void calls_write_entry(uint64_t place, const struct call_frame *frame)
{
	if (UNLIKELY(arguments_are_recorded))
		calls_write_entry_text(place, frame);
	else
		calls_write_place(&calls_entry_event, place, NULL);
}

static inline void calls_write_exit(uint64_t place, const struct call_end *end)
{
	if (UNLIKELY(arguments_are_recorded))
		calls_write_exit_text(place, end);
	else
		calls_write_place(&calls_exit_event, place, NULL);
}

#endif
