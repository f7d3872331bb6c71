/* The calls that are open, where entries and exits alone do not tell what to record. */
#ifndef VESTIGE_PYTHON_STACKS_H
#define VESTIGE_PYTHON_STACKS_H

#include "call_frame.h"

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

#endif
