/* Calls of Python functions: entries and exits. */
#ifndef VESTIGE_PYTHON_CALLS_H
#define VESTIGE_PYTHON_CALLS_H

#include "call_frame.h"

/* Record a call; nothing without a place. Frame and end are NULL where there are none. */
void calls_enter(uint64_t place, const struct call_frame *frame);
void calls_leave(uint64_t place, const struct call_end *end);
/* The same of a coroutine, which is told from others by an address: it begins
 * or goes on, and it waits or ends. */
void calls_enter_step(uint64_t place, const void *id, bool is_resumed,
		      const struct call_frame *frame);
void calls_leave_step(uint64_t place, const void *id, bool is_suspended,
		      const struct call_end *end);

#endif
