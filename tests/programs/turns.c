/* Functions that a scheduler treats differently: one sleeps, one computes, and one computes where
   another process does, too. */

#define _GNU_SOURCE

#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MILLISECOND = 1000000, SLEPT = 50, USED = 60 };

static volatile long sum;

static long used(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1000L * MILLISECOND + time.tv_nsec;
}

static void compute(void)
{
	const long begin = used();

	while (used() - begin < (long) USED * MILLISECOND)
		sum++;
}

__attribute__((noinline)) void sleeps(void)
{
	nanosleep(&(struct timespec) { .tv_nsec = (long) SLEPT * MILLISECOND }, NULL);
}

__attribute__((noinline)) void computes(void)
{
	compute();
}

__attribute__((noinline)) void shares_a_cpu(void)
{
	compute();
}

int main(void)
{
	cpu_set_t one;
	pid_t other;

	sleeps();
	computes();
	CPU_ZERO(&one);
	CPU_SET((size_t) sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	other = fork();
	if (other == 0)
		for (;;)
			sum++;
	shares_a_cpu();
	kill(other, SIGKILL);
	return 0;
}
