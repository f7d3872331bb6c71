/*
 * Calls of Python functions: entries and exits.
 *
 * A generator is entered each time it goes on, and left each time it yields. What raises an
 * exception is left, too. Versions of Python differ in how one learns of calls.
 */
#include "calls.h"

#include "call_events.h"
#include "greenlets.h"
#include "stacks.h"

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
