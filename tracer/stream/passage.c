/*
 * Waiting for threads that are in a probe.
 *
 * To pass a tracepoint must cost next to nothing, to unload a provider may take its time. So a
 * thread stores where its stack is and makes no barrier: who waits makes one for all threads.
 *
 * A thread may never say that it has left: it has ended, or a handler jumped out of the probe. So
 * nobody waits for ever.
 */
#define _GNU_SOURCE
#include "passage.h"

#include <linux/membarrier.h>

#include "../base/process.h"
#include "../base/system.h"
#include "local.h"
#include "memory.h"
#include "room.h"
#include "shared_thread.h"

/* Looks at threads before the first pause, and with pauses after each: 2 s or a little more. */
#define SHORT_LOOKS 1000u
#define MOST_LOOKS 3000u
/* What a thread needs, at most, to show its stores to others by itself. */
static const struct timespec store_pause = {.tv_nsec = 2000000};
static const struct timespec look_pause = {.tv_nsec = 1000000};

int passage_state(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
	return (int) ((char *) &stream_thread - (char *) __builtin_thread_pointer());
#else
	return VESTIGE_STAYS;
#endif
}

static bool membarrier(int command)
{
	return system_call(SYS_membarrier, command, 0, 0, 0, 0, 0) == 0;
}

bool passage_is_fenced(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

unsigned long *passage_nesting(void)
{
	struct stream *stream = first_stream;

	if (!stream) {
		streams_meet();
		stream = first_stream;
	}
	return stream ? &stream->nesting : NULL;
}

/* Let a short time pass, also where the program filters its system calls. */
static void rest(const struct timespec *time)
{
	if (!system_is_confined) {
		system_sleep(time);
		return;
	}
	for (long count = 0; count < time->tv_nsec / 10; count++)
		compiler_barrier();
}

/* Have each thread see what we stored, and show what it did. */
static void meet_all_threads(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		return;
	if (!membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ||
	    !membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
		rest(&store_pause);
}

static bool has_ended(const struct stream *stream)
{
	return system_call(SYS_tgkill, process_id(), stream->vtid, 0, 0, 0, 0) == -ESRCH;
}

static bool is_nested(const struct stream *stream)
{
	const unsigned long nesting = __atomic_load_n(&stream->nesting, __ATOMIC_ACQUIRE);

	return nesting && nesting != stream->nesting_given_up;
}

/* It jumped out of a probe, or is gone for longer than we may wait. */
static void give_up(struct stream *stream)
{
	uintptr_t seen = __atomic_load_n(&stream->passage.inside, __ATOMIC_RELAXED);

	if (seen)
		__atomic_compare_exchange_n(&stream->passage.inside, &seen, 0, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	/* The thread may still count down. */
	stream->nesting_given_up = __atomic_load_n(&stream->nesting, __ATOMIC_RELAXED);
}

/* Whether it has left. */
static bool wait_for(struct stream *stream, unsigned int *looks)
{
	while (__atomic_load_n(&stream->passage.inside, __ATOMIC_ACQUIRE) || is_nested(stream)) {
		++*looks;
		if (*looks < SHORT_LOOKS)
			continue;
		if (has_ended(stream))
			return true;
		if (*looks < MOST_LOOKS) {
			rest(&look_pause);
			continue;
		}
		give_up(stream);
		return false;
	}
	return true;
}

/* Whether this thread is in a probe. A frame that a handler has jumped out of is below; on a stack
 * of its own, a handler may be anywhere. */
static bool is_inside(void)
{
	const uintptr_t inside = stream_thread.passage ? stream_thread.passage->inside : 0;
	struct stream *stream = first_stream;

	if (stream && is_nested(stream)) {
		/* What a handler has jumped out of cannot be told from the rest. */
		stream->nesting_given_up = stream->nesting;
		return true;
	}
	return inside && ((uintptr_t) stack_pointer() < inside || system_is_on_signal_stack());
}

struct waiting {
	unsigned int looks;
	bool have_left;
};

static void wait_for_other(struct stream *stream, void *data)
{
	struct waiting *waiting = data;

	if (&stream->passage != stream_thread.passage && !wait_for(stream, &waiting->looks))
		waiting->have_left = false;
}

bool passage_wait(void)
{
	struct waiting waiting = {.have_left = !is_inside()};

	meet_all_threads();
	stream_memory_each(wait_for_other, &waiting);
	return waiting.have_left;
}

void passage_before_fork(void)
{
	const struct stream *stream = first_stream;
	struct notes *notes = shared_thread_notes();

	if (!notes)
		return;
	notes->before_fork.inside = stream ? stream->passage.inside : 0;
	notes->before_fork.nesting = stream ? stream->nesting : 0;
}

void passage_after_fork(void)
{
	struct stream *stream = first_stream;
	const struct notes *notes = stream_memory_notes();

	if (!stream)
		return;
	/* It is in memory that was filled with zeros. */
	stream->passage.inside = notes->before_fork.inside;
	stream->nesting = notes->before_fork.nesting;
}
