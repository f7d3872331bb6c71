/* The ends of threads. */
#define _GNU_SOURCE
#include "thread_ends.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "../base/system.h"
#include "shadow.h"

/* The C library keeps the first of them in a thread from its beginning, and allocates memory for others,
 * which a program may do itself: calls of such a function are recorded. */
#define FIRST_KEYS 32u
/* Below the frame of who is called, what it may use for others. */
#define BELOW 4096u

static pthread_key_t key;
static bool has_key;

/* Destructors of the program may come after this one: what they need is made again. */
static void give_back(void *place)
{
	const uintptr_t here = (uintptr_t) __builtin_frame_address(0) - BELOW;
	const uintptr_t innermost = *(const uintptr_t *) place;
	pthread_attr_t attributes;
	void *stack = NULL;
	size_t size = 0;
	uintptr_t low;

	/* The C library asks the kernel for more than the place of the stack, and opens a file for the
	 * first thread, whose shadow stays: its stack does. */
	if (system_is_confined || system_gettid() == system_getpid() ||
	    pthread_getattr_np(pthread_self(), &attributes) != 0)
		return;
	pthread_attr_getstack(&attributes, &stack, &size);
	pthread_attr_destroy(&attributes);
	low = (uintptr_t) stack;
	if (here - low >= size)
		return;
	/* Calls that were left, as by pthread_exit(), are still to be told of. */
	shadow_give_back(low, innermost - low < here - low ? innermost : here);
}

void thread_ends_start(void)
{
	has_key = pthread_key_create(&key, give_back) == 0;
	if (has_key && key >= FIRST_KEYS) {
		pthread_key_delete(key);
		has_key = false;
	}
}

void thread_ends_attend(void *innermost, void *unused)
{
	(void) unused;
	if (has_key)
		pthread_setspecific(key, innermost);
}
