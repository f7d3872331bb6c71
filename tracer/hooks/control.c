/*
 * The threads that take orders from session daemons: one for that of the user, and one for that of
 * root.
 *
 * They are there only where a daemon is, has been, or may come. Each says who the program is, and does
 * what it is told: record this, record nothing, say which events there are. When its daemon goes, the
 * program goes on as it was told last, and the thread waits for the next daemon, on a page of
 * memory, at no cost.
 */
#define _GNU_SOURCE
#include "control.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "../base/clock.h"
#include "../base/system.h"
#include "../stream/passage.h"
#include "meeting.h"
#include "orders.h"
#include "tracing.h"

/* What is done here reads files and compares names: paths and names are on the stack. */
#define STACK_SIZE (256u << 10)
#define THREAD_NAME "vestige-control"
#define MILLISECOND 1000000
#define SECOND 1000000000
/* For a thread to end. */
#define MOST_LOOKS 10
#define LOOK (5 * MILLISECOND)

/* A bit for each daemon that has said what is recorded, or that is not there. */
static atomic_uint answered;
/* Bits of the threads that were started in this process, and not seen to end. */
static atomic_uint running;
static pthread_t threads[MOST_MEETINGS];

static unsigned int bit(unsigned int which)
{
	return 1u << which;
}

/* What a daemon wants is known. */
static void note_answer(unsigned int which)
{
	atomic_fetch_or(&answered, bit(which));
	system_wake(&answered);
}

static void *take_orders(void *argument)
{
	const unsigned int which = (unsigned int) (uintptr_t) argument;

	system_call(SYS_prctl, PR_SET_NAME, (long) THREAD_NAME, 0, 0, 0, 0);
	while (!orders_are_ending()) {
		const uint32_t number = meeting_number(which);

		orders_take(which, note_answer);
		note_answer(which);
		if (!orders_are_ending())
			meeting_wait(which, number);
	}
	return NULL;
}

/* Wait until daemons have said what is recorded, those that are there. */
static void wait_for_orders(unsigned int all)
{
	const long patience = meeting_patience();
	const uint64_t end = clock_monotonic() + (uint64_t) patience * MILLISECOND;
	const struct timespec limit = {(time_t) (end / SECOND), (long) (end % SECOND)};
	unsigned int known = patience ? atomic_load(&answered) : all;
	long result = 0;

	while ((known & all) != all && result != -ETIMEDOUT) {
		result = system_call(SYS_futex, (long) &answered, FUTEX_WAIT_BITSET_PRIVATE,
				     known, patience < 0 ? 0 : (long) &limit, 0,
				     (long) FUTEX_BITSET_MATCH_ANY);
		known = atomic_load(&answered);
	}
}

static void start_thread(unsigned int which)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	/* But those of the C library itself, which it needs for setuid() and the like. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_fetch_or(&running, bit(which));
	if (pthread_create(&threads[which], &attributes, take_orders,
			   (void *) (uintptr_t) which) != 0)
		atomic_fetch_and(&running, ~bit(which));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* A child process is another program to daemons; it goes on recording meanwhile. */
static void after_fork(void)
{
	const unsigned int were_running = atomic_exchange(&running, 0);

	if (!were_running)
		return;
	orders_after_fork();
	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		if (were_running & bit(which))
			start_thread(which);
}

/* See the end of a thread, which makes system calls until it is gone; false when it has not come. */
static bool see_end(unsigned int which)
{
	struct timespec limit;

	/* Each time: it may have been about to sleep. */
	meeting_wake(which);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_nsec += LOOK;
	limit.tv_sec += limit.tv_nsec / SECOND;
	limit.tv_nsec %= SECOND;
	return pthread_timedjoin_np(threads[which], NULL, &limit) == 0;
}

void control_leave(void)
{
	if (!orders_end())
		return;
	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		for (int looks = 0; looks < MOST_LOOKS && atomic_load(&running) & bit(which);
		     looks++)
			if (see_end(which))
				atomic_fetch_and(&running, ~bit(which));
}

/* After the one that begins to trace. */
static __attribute__((constructor(102))) void start(void)
{
	tracing_start();
	if (!tracing_is_expected())
		return;
	pthread_atfork(NULL, NULL, after_fork);
	/* While there is one thread: with several, the kernel takes some 15 ms for it, which
	 * the end of the program would wait for. */
	passage_is_fenced();
	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		if (meeting_is_possible(which))
			start_thread(which);
	wait_for_orders(atomic_load(&running));
}
