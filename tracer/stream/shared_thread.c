/*
 * clone() of the C library with CLONE_VM and without CLONE_SETTLS and CLONE_VFORK makes a
 * process that runs at the same time as its parent, with the parent's thread pointer: both
 * would write to the same streams at once. So the thread has none until the child has ended or
 * has another program; what both do meanwhile is counted as lost. The kernel tells: it sets
 * a word to zero then, see CLONE_CHILD_CLEARTID in clone(2).
 *
 * Everything else that runs in our memory has a thread pointer of its own (threads), or
 * runs while its parent waits (vfork).
 */
#define _GNU_SOURCE
#include "shared_thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include "../base/compiler.h"
#include "cpu_ring.h"
#include "state.h"

#define MOST_CHILDREN 8

static __thread struct stream *paused[CHANNELS] __attribute__((tls_model("initial-exec")));
static __thread struct stream *paused_first __attribute__((tls_model("initial-exec")));
static __thread bool is_paused __attribute__((tls_model("initial-exec")));
/* Each the ID of a child that runs. */
static __thread atomic_int children[MOST_CHILDREN] __attribute__((tls_model("initial-exec")));
/* Whether a child runs whose end nobody tells. */
static __thread bool is_forever __attribute__((tls_model("initial-exec")));

typedef int clone_function(int (*function)(void *), void *stack, int flags, void *argument, ...);

EXPORTED clone_function clone;

bool shared_thread_is_paused(void)
{
	if (!is_paused)
		return false;
	for (int index = 0; index < MOST_CHILDREN; index++)
		if (atomic_load(&children[index]))
			return true;
	if (is_forever)
		return true;
	is_paused = false;
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		streams_of_thread[channel] = paused[channel];
	first_stream = paused_first;
	return false;
}

void shared_thread_end(void)
{
	for (int index = 0; index < MOST_CHILDREN; index++)
		atomic_store(&children[index], 0);
	is_forever = false;
	shared_thread_is_paused();
}

/* A word that is not zero until the child has ended. */
static atomic_int *pause_streams(int flags)
{
	if (!is_paused) {
		is_paused = true;
		for (uint32_t channel = 0; channel < CHANNELS; channel++) {
			paused[channel] = streams_of_thread[channel];
			streams_of_thread[channel] = NULL;
		}
		paused_first = first_stream;
		first_stream = NULL;
	}
	if (!(flags & (CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID))) {
		for (int index = 0; index < MOST_CHILDREN; index++) {
			if (!atomic_load(&children[index])) {
				atomic_store(&children[index], 1);
				return &children[index];
			}
		}
	}
	is_forever = true;
	return NULL;
}

static bool has_stream(void)
{
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		if (streams_of_thread[channel])
			return true;
	return false;
}

static clone_function *original;

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	if (!original)
		*(void **) &original = dlsym(RTLD_NEXT, "clone");
}

int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	const bool was_forever = is_forever;
	atomic_int *word = NULL;
	bool is_waiting;
	void *parent_id;
	void *thread;
	void *child_id;
	va_list rest;
	int child;

	va_start(rest, argument);
	parent_id = va_arg(rest, void *);
	thread = va_arg(rest, void *);
	child_id = va_arg(rest, void *);
	va_end(rest);
	find();
	if (!original) {
		errno = ENOSYS;
		return -1;
	}
	if ((has_stream() || is_paused) &&
	    (flags & (CLONE_VM | CLONE_SETTLS | CLONE_VFORK)) == CLONE_VM) {
		word = pause_streams(flags);
		if (word) {
			flags |= CLONE_CHILD_CLEARTID;
			child_id = (void *) word;
		}
	}
	/* Such a child has our memory, too, while we wait. */
	is_waiting =
		(flags & (CLONE_VM | CLONE_SETTLS | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK);
	if (is_waiting)
		vestige_leave_cpu_rings();
	child = original(function, stack, flags, argument, parent_id, thread, child_id);
	if (is_waiting)
		vestige_return_to_cpu_rings();
	if (child < 0) {
		if (word)
			atomic_store(word, 0);
		is_forever = was_forever;
	}
	return child;
}
