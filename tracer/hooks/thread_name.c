/*
 * pthread_setname_np() of the C library: the packet that a thread fills has the name that it gives
 * itself. Most do so at their start, in a function that is recorded already.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

#include "../base/settings.h"
#include "../stream/stream.h"
#include "original.h"

EXPORTED __typeof__(pthread_setname_np) pthread_setname_np;

static __typeof__(pthread_setname_np) *original_pthread_setname_np;

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	FIND(pthread_setname_np);
}

int pthread_setname_np(pthread_t thread, const char *name)
{
	int error;

	find();
	if (!original_pthread_setname_np)
		return ENOSYS;
	error = original_pthread_setname_np(thread, name);
	if (!error && settings.is_recording && pthread_equal(thread, pthread_self()))
		stream_rename(name);
	return error;
}
