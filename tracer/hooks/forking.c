/* What is done at fork() and at _Fork(), in the parent and in the child. */
#define _GNU_SOURCE
#include "forking.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "../base/process.h"
#include "../stream/passage.h"
#include "../stream/shared_thread.h"
#include "../stream/stream.h"

typedef pid_t fork_function(void);

/* fork() without handlers: that of POSIX for signal handlers, which may have interrupted us. */
EXPORTED fork_function _Fork;

static fork_function *original_fork;

static void before_fork(void)
{
	passage_before_fork();
	stream_before_fork();
}

static void after_fork(void)
{
	process_id();
	shared_thread_end();
	passage_after_fork();
	stream_after_fork();
}

/* Early: a handler must not be the first to look for it. */
static __attribute__((constructor(101))) void find_fork(void)
{
	if (!original_fork)
		*(void **) &original_fork = dlsym(RTLD_NEXT, "_Fork");
}

pid_t _Fork(void)
{
	pid_t child;

	find_fork();
	if (!original_fork) {
		errno = ENOSYS;
		return -1;
	}
	if (process_is_begun())
		before_fork();
	child = original_fork();
	if (child == 0 && process_is_begun())
		after_fork();
	return child;
}

void forking_start(void)
{
	static bool is_started;

	if (is_started)
		return;
	is_started = true;
	/* Where there is no memory for it, a child process is traced all the same. */
	pthread_atfork(before_fork, NULL, after_fork);
}
