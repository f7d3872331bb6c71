/*
 * prctl() of the C library, for the two calls after which the tracer must do nothing more in
 * a thread: strict mode of seccomp(2), where each system call but a few ends the thread, and
 * the counter cannot be read; and the prohibition to read the counter.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

#include "settings.h"
#include "stream.h"

typedef int prctl_function(int option, ...);

__attribute__((visibility("default"))) prctl_function prctl;

static bool is_confining(int option, unsigned long first)
{
	return (option == PR_SET_SECCOMP && first == SECCOMP_MODE_STRICT) ||
		(option == PR_SET_TSC && first == PR_TSC_SIGSEGV && settings.counter_is_clock);
}

static prctl_function *original;

/* Early: later, a child process may be the first to ask, with the dynamic linker's locks as
 * another thread of its parent had them. */
static __attribute__((constructor(101))) void find(void)
{
	if (!original)
		*(void **) &original = dlsym(RTLD_NEXT, "prctl");
}

int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list rest;

	va_start(rest, option);
	for (int index = 0; index < 4; index++)
		arguments[index] = va_arg(rest, unsigned long);
	va_end(rest);
	find();
	if (!original) {
		errno = ENOSYS;
		return -1;
	}
	if (settings.is_recording && is_confining(option, arguments[0]))
		stream_leave();
	return original(option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
