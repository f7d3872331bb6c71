/* The open calls of a thread: those that are not simply within the one before. */
#define _GNU_SOURCE
/* Callers have their arguments in vector registers. */
#include "general_registers.h"

#include "frames.h"

#include <stddef.h>

#include "own_stack.h"
#include "thread_ends.h"
#include "vectors.h"

__thread struct frames frames;

/* Whether a slot is on the thread's own stack. */
static bool is_own(uintptr_t slot)
{
	if (UNLIKELY(!frames.is_measured)) {
		/* First of all: a handler may come here meanwhile. */
		frames.is_measured = true;
		vectors_keep(own_stack_find, &frames.low, &frames.size);
	}
	return slot - frames.low < frames.size;
}

uintptr_t frames_link_elsewhere(uintptr_t slot, uintptr_t function)
{
	const uintptr_t outer = frames.innermost;
	const uintptr_t words = (outer - slot) / FRAME_WORD;
	uintptr_t link = 0;

	if (UNLIKELY(!frames.is_attended)) {
		/* As above. */
		frames.is_attended = true;
		vectors_keep(thread_ends_attend, &frames.innermost, NULL);
	}
	if (outer && !is_own(slot))
		link = FRAME_APART;
	else if (outer && is_own(outer) && outer > slot && words < FRAME_APART)
		link = words;
	return function | link << FRAME_FUNCTION_BITS;
}

static void set_innermost(uintptr_t slot, uintptr_t link)
{
	frames.innermost = link ? slot + link * FRAME_WORD : 0;
}

void frames_end_elsewhere(uintptr_t slot, uintptr_t word)
{
	const uintptr_t link = word >> FRAME_FUNCTION_BITS;

	if (link == FRAME_APART)
		return;
	if (frames.innermost == slot || is_own(slot))
		set_innermost(slot, link);
	else if (!is_own(frames.innermost))
		/* A coroutine, whose link may lead to a call that is over. */
		frames.innermost = 0;
}

bool frames_take_abandoned(uintptr_t slot, bool is_begin, struct abandoned_call *call)
{
	for (;;) {
		const uintptr_t innermost = frames.innermost;
		struct shadow *shadow;
		uintptr_t word;

		if (!innermost || innermost > slot || (innermost == slot && !is_begin) ||
		    !is_own(slot) || !is_own(innermost))
			return false;
		shadow = shadow_at(innermost);
		word = shadow->function;
		/* Should it return after all, it has been told of. */
		shadow->function = word & ~FRAME_FUNCTION_MASK;
		set_innermost(innermost, word >> FRAME_FUNCTION_BITS);
		if (word & FRAME_FUNCTION_MASK) {
			call->function = word & FRAME_FUNCTION_MASK;
			call->return_address = shadow->return_address;
			return true;
		}
	}
}

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
