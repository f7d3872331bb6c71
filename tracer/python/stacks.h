/* The calls that are open, where entries and exits alone do not tell what to record. */
#ifndef VESTIGE_PYTHON_STACKS_H
#define VESTIGE_PYTHON_STACKS_H

#include "arguments.h"

/* Whether calls go through here. */
extern bool stacks_are_used;

/* Record no calls deeper than `depth`, and none shorter than `least` ticks; 0 for all. */
void stacks_limit(uint32_t depth, uint64_t least);
void stacks_enter(uint64_t place, const struct call_frame *frame);
void stacks_leave(uint64_t place, const struct call_end *end);
void stacks_enter_step(uint64_t place, const void *id, bool is_resumed,
		       const struct call_frame *frame);
void stacks_leave_step(uint64_t place, const void *id, bool is_suspended,
		       const struct call_end *end);

/* Write an entry or an exit (calls.c). */
void calls_write_entry(uint64_t place, const struct call_frame *frame);
/* One that was held back since a time, with its text if events have one. */
void calls_write_late_entry(uint64_t place, uint64_t time, const struct call_text *text);
void calls_write_exit(uint64_t place, const struct call_end *end);
void calls_write_step_entry(uint64_t place, const void *id, bool is_resumed,
			    const struct call_frame *frame);
void calls_write_step_exit(uint64_t place, const void *id, bool is_suspended,
			   const struct call_end *end);

#endif
