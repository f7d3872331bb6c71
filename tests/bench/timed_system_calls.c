/*
 * timed_system_calls COUNT PACE CPUS: on each of CPUS processors, a thread makes COUNT system calls
 * that do next to nothing, one each PACE nanoseconds (0: as fast as it can). Printed are the
 * nanoseconds of a call, and those of processor time, which other programs do not add to. What a
 * thread that is behind its pace has missed it makes up for.
 */
#define _GNU_SOURCE

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

enum { MOST = 256 };

static long count;
static long pace;
static pthread_barrier_t begin;
static double taken[MOST];
static double used[MOST];

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static void *run(void *argument)
{
	const long number = (long) argument;
	cpu_set_t own;
	double start;
	double start_of_use;

	CPU_ZERO(&own);
	CPU_SET((size_t) number, &own);
	sched_setaffinity(0, sizeof(own), &own);
	pthread_barrier_wait(&begin);
	start = now(CLOCK_MONOTONIC);
	start_of_use = now(CLOCK_THREAD_CPUTIME_ID);
	for (long i = 0; i < count; i++) {
		while (pace > 0 && now(CLOCK_MONOTONIC) < start + (double) (i * pace))
			;
		syscall(SYS_getpriority, PRIO_PROCESS, 0);
	}
	taken[number] = (now(CLOCK_MONOTONIC) - start) / (double) count;
	used[number] = (now(CLOCK_THREAD_CPUTIME_ID) - start_of_use) / (double) count;
	return NULL;
}

int main(int number, char **words)
{
	pthread_t threads[MOST];
	long cpus;
	double time = 0;
	double use = 0;

	if (number != 4)
		return 2;
	count = atol(words[1]);
	pace = atol(words[2]);
	cpus = atol(words[3]);
	if (count < 1 || cpus < 1 || cpus > MOST)
		return 2;
	pthread_barrier_init(&begin, NULL, (unsigned int) cpus);
	for (long i = 0; i < cpus; i++)
		if (pthread_create(&threads[i], NULL, run, (void *) i) != 0)
			return 1;
	for (long i = 0; i < cpus; i++) {
		pthread_join(threads[i], NULL);
		time += taken[i];
		use += used[i];
	}
	printf("ns=%.2f cpu=%.2f\n", time / (double) cpus, use / (double) cpus);
	return 0;
}
