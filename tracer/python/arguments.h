/* What calls are given and what they end with, as texts (arguments.c). */
#ifndef VESTIGE_PYTHON_ARGUMENTS_H
#define VESTIGE_PYTHON_ARGUMENTS_H

#include "call_frame.h"

/* Bytes of the text of an event at most, with the zero after it. */
#define CALL_TEXT_SIZE 512u

struct call_text {
	uint32_t size;
	char bytes[CALL_TEXT_SIZE];
};

/* Whether events of calls have such a text. It is never empty: Babeltrace 2 shows another one in
 * place of an empty one. */
extern bool arguments_are_recorded;

void arguments_start(bool are_wanted);
/* The text of an event, in `room`; NULL when events have none. Without a frame, or without an
 * end, it is dots. */
const struct call_text *call_text_of_entry(const struct call_frame *frame,
					   struct call_text *room);
const struct call_text *call_text_of_exit(const struct call_end *end, struct call_text *room);

#endif
