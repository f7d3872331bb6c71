/*
 * The open calls of a thread: which are still to return.
 *
 * Functions may be left without returning, by longjmp() or an exception. So each call has a link to
 * the one that it was made in, and the thread knows the innermost: when one begins or ends further
 * up the stack, those below it are over. The link is in the shadow, above the function: how many
 * words of the stack are in between. It is 0 where there is no outer call, or none near enough.
 *
 * That can be told of the thread's own stack alone. Calls on other stacks, such as those of
 * coroutines and of handlers, have no links.
 */
#ifndef VESTIGE_PATCH_FRAMES_H
#define VESTIGE_PATCH_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "shadow.h"

/* Of a word in the shadow; what is above them is the link. */
#define FRAME_FUNCTION_BITS 48
#define FRAME_FUNCTION_MASK (((uintptr_t) 1 << FRAME_FUNCTION_BITS) - 1)
/* The link of a call on another stack. */
#define FRAME_APART 0xFFFFu
#define FRAME_WORD sizeof(uintptr_t)

struct frames {
	/* Where the return address of the innermost call is; 0 without. */
	uintptr_t innermost;
	/* The thread's own stack, once it was asked for; its size is 0 where it is not known. */
	uintptr_t low;
	uintptr_t size;
	bool is_measured;
	/* Whether its end is attended, see thread_ends.h. */
	bool is_attended;
};

extern __thread struct frames frames HIDDEN __attribute__((tls_model("initial-exec")));

/* A call that is over although it has not returned. */
struct abandoned_call {
	uintptr_t function;
	uintptr_t return_address;
};

/* Find the word of a call whose return address is in a slot, not too far below the innermost one or
 * in none; false if it is elsewhere. */
static inline bool frames_link(uintptr_t slot, uintptr_t function, uintptr_t *word)
{
	const uintptr_t innermost = frames.innermost;
	const uintptr_t distance = innermost - slot - FRAME_WORD;
	const uintptr_t words = distance / FRAME_WORD | distance << 61;

	*word = function | (words + 1) << FRAME_FUNCTION_BITS;
	if (LIKELY(words < FRAME_APART - 1))
		return true;
	*word = function;
	return !innermost && LIKELY(frames.is_attended);
}

/* Let a call be the innermost, which has its word; before that, a handler that jumps away finds the
 * ones around it. */
static inline void frames_begin(uintptr_t slot, uintptr_t word)
{
	if (LIKELY(word >> FRAME_FUNCTION_BITS != FRAME_APART))
		frames.innermost = slot;
}

/* Let the one outside of the innermost call be the innermost; false if the call is not that. */
static inline bool frames_end(uintptr_t slot, uintptr_t word)
{
	const uintptr_t link = word >> FRAME_FUNCTION_BITS;

	if (UNLIKELY(frames.innermost != slot))
		return false;
	frames.innermost = LIKELY(link) ? slot + link * FRAME_WORD : 0;
	return true;
}

/* The same of calls that are elsewhere, when those below are over: see frames_take_abandoned(). */
uintptr_t frames_link_elsewhere(uintptr_t slot, uintptr_t function) HIDDEN;
void frames_end_elsewhere(uintptr_t slot, uintptr_t word) HIDDEN;
/* Take the innermost call if a jump has left it, since the stack has a call or an end of one at a
 * slot; `is_begin`: what is at that slot itself is over, too. */
bool frames_take_abandoned(uintptr_t slot, bool is_begin, struct abandoned_call *call) HIDDEN;

#endif
