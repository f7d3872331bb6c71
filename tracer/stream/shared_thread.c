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
#include "local.h"
#include "memory.h"

/* The first of the streams that it will have back; NULL: it has those that it has. */
static __thread struct stream *paused_first __attribute__((tls_model("initial-exec")));

typedef int clone_function(int (*function)(void *), void *stack, int flags, void *argument, ...);

EXPORTED clone_function clone;

struct notes *shared_thread_notes(void)
{
	return paused_first ? &stream_memory_beside(paused_first)->notes : stream_memory_notes();
}

bool shared_thread_is_paused(void)
{
	const struct paused_streams *paused;

	if (!paused_first)
		return false;
	paused = &shared_thread_notes()->paused;
	for (int index = 0; index < MOST_CHILDREN; index++)
		if (atomic_load(&paused->children[index]))
			return true;
	if (paused->is_forever)
		return true;
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		streams_of_thread[channel] = paused->streams[channel];
	first_stream = paused_first;
	paused_first = NULL;
	return false;
}

void shared_thread_end(void)
{
	struct notes *notes = shared_thread_notes();

	if (!notes)
		return;
	for (int index = 0; index < MOST_CHILDREN; index++)
		atomic_store(&notes->paused.children[index], 0);
	notes->paused.is_forever = false;
	shared_thread_is_paused();
}

/* After a child has been noted: a handler may ask whether there is any. */
static void pause_streams(struct paused_streams *paused)
{
	if (paused_first)
		return;
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		paused->streams[channel] = streams_of_thread[channel];
	compiler_barrier();
	paused_first = first_stream;
	compiler_barrier();
	for (uint32_t channel = 0; channel < CHANNELS; channel++)
		streams_of_thread[channel] = NULL;
	first_stream = NULL;
}

/* A word that is not zero until the child has ended. */
static atomic_int *note_child(struct paused_streams *paused, int flags)
{
	if (!(flags & (CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID))) {
		for (int index = 0; index < MOST_CHILDREN; index++) {
			if (!atomic_load(&paused->children[index])) {
				atomic_store(&paused->children[index], 1);
				return &paused->children[index];
			}
		}
	}
	paused->is_forever = true;
	return NULL;
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
	struct notes *notes = shared_thread_notes();
	const bool was_forever = notes && notes->paused.is_forever;
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
	if (notes && (flags & (CLONE_VM | CLONE_SETTLS | CLONE_VFORK)) == CLONE_VM) {
		word = note_child(&notes->paused, flags);
		pause_streams(&notes->paused);
		if (word) {
			flags |= CLONE_CHILD_CLEARTID;
			child_id = (void *) word;
		}
	}
	/* Such a child has our memory, too, while we wait. */
	is_waiting =
		(flags & (CLONE_VM | CLONE_SETTLS | CLONE_VFORK)) == (CLONE_VM | CLONE_VFORK);
	if (is_waiting)
		cpu_rings_leave();
	child = original(function, stack, flags, argument, parent_id, thread, child_id);
	if (is_waiting)
		cpu_rings_return();
	if (child < 0) {
		if (word)
			atomic_store(word, 0);
		if (notes)
			notes->paused.is_forever = was_forever;
	}
	return child;
}
