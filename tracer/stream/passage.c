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
#include "lone.h"
#include "memory.h"
#include "room.h"
#include "shared_thread.h"

/* Threads that are waited for together. */
#define MOST_TOGETHER 64u
/* Looks between two pauses: a thread that runs is seen outside in one of them, also if it is back
 * in a probe at once. */
#define LOOKS 4096u
/* Pauses in which nobody is seen outside: 2 s or a little more. */
#define MOST_PAUSES 2000u
/* What a thread needs, at most, to show its stores to others by itself. */
static const struct timespec store_pause = {.tv_nsec = 2000000};
static const struct timespec look_pause = {.tv_nsec = 1000000};

static passage_waiter *waiter;

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

/* Whether the thread has not ended. */
static bool is_there(const struct stream *stream)
{
	return system_call(SYS_tgkill, process_id(), stream->vtid, 0, 0, 0, 0) != -ESRCH;
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

static bool is_seen_inside(const struct stream *stream)
{
	return __atomic_load_n(&stream->passage.inside, __ATOMIC_ACQUIRE) || is_nested(stream);
}

struct waiting {
	struct stream *left[MOST_TOGETHER];
	uint32_t count;
	bool have_left;
};

/* Forget the others. */
static void keep(struct waiting *waiting, bool (*is_kept)(const struct stream *stream))
{
	uint32_t count = 0;

	for (uint32_t index = 0; index < waiting->count; index++)
		if (is_kept(waiting->left[index]))
			waiting->left[count++] = waiting->left[index];
	waiting->count = count;
}

/*
 * A thread that was preempted is seen outside when it runs again, so time is counted from when the
 * last one was: with many threads on few processors, it may be long until all have run.
 */
static void wait_for_some(struct waiting *waiting)
{
	for (uint32_t pauses = 0; waiting->count; pauses++) {
		const uint32_t before = waiting->count;

		for (uint32_t looks = 0; waiting->count && looks < LOOKS; looks += before)
			keep(waiting, is_seen_inside);
		if (pauses)
			keep(waiting, is_there);
		if (waiting->count < before)
			pauses = 0;
		if (pauses == MOST_PAUSES)
			break;
		if (waiting->count)
			rest(&look_pause);
	}
	if (waiting->count)
		waiting->have_left = false;
	while (waiting->count)
		give_up(waiting->left[--waiting->count]);
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

static void wait_for_other(struct stream *stream, void *data)
{
	struct waiting *waiting = data;

	if (&stream->passage == stream_thread.passage || !is_seen_inside(stream))
		return;
	waiting->left[waiting->count++] = stream;
	if (waiting->count == MOST_TOGETHER)
		wait_for_some(waiting);
}

bool passage_wait(void)
{
	passage_waiter *others = __atomic_load_n(&waiter, __ATOMIC_ACQUIRE);
	struct waiting waiting = {.have_left = !is_inside()};

	meet_all_threads();
	stream_memory_each(wait_for_other, &waiting);
	wait_for_some(&waiting);
	if (!lone_wait())
		waiting.have_left = false;
	if (others && !others())
		waiting.have_left = false;
	return waiting.have_left;
}

void passage_wait_also(passage_waiter *others)
{
	__atomic_store_n(&waiter, others, __ATOMIC_RELEASE);
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

	lone_after_fork();
	if (!stream)
		return;
	/* It is in memory that was filled with zeros. */
	stream->passage.inside = notes->before_fork.inside;
	stream->nesting = notes->before_fork.nesting;
}
