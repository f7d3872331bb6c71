/* The calls that are open, where entries and exits alone do not tell what to record. */
#ifndef VESTIGE_PYTHON_STACKS_H
#define VESTIGE_PYTHON_STACKS_H

#include "native.h"

/* Whether calls go through here. */
extern bool stacks_are_used;

/* Record no calls deeper than `depth`, and none shorter than `least` ticks; 0 for all. */
void stacks_limit(uint32_t depth, uint64_t least);
void stacks_enter(uint64_t place);
void stacks_leave(uint64_t place);
void stacks_enter_step(uint64_t place, const void *id, bool is_resumed);
void stacks_leave_step(uint64_t place, const void *id, bool is_suspended);

/* Write an entry or an exit (calls.c). With a time, it is an entry that was held back. */
void calls_write_entry(uint64_t place, uint64_t time);
void calls_write_exit(uint64_t place);
void calls_write_step_entry(uint64_t place, const void *id, bool is_resumed);
void calls_write_step_exit(uint64_t place, const void *id, bool is_suspended);

#endif
