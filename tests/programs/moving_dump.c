/*
 * Preloaded, it says of the first event record of each thread that it is of the first CPU, and of
 * all others that they are of the second, where the main thread always is, if there is one.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

int sched_getcpu(void)
{
	static __thread int has_begun;
	int cpu = (has_begun || gettid() == getpid()) && sysconf(_SC_NPROCESSORS_CONF) > 1;

	has_begun = 1;
	return cpu;
}
