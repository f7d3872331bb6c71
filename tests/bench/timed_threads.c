/*
 * timed_threads THREADS N: each thread passes a tracepoint N times. Printed are nanoseconds of a
 * pass, as a thread has them, and how many records there should be. Without arguments it waits
 * until its input ends.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points-tp.h"

enum { MOST = 64 };

static long passes;
static pthread_barrier_t all;
static double taken[MOST];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static void *work(void *argument)
{
	double *own = argument;
	double begin;

	pthread_barrier_wait(&all);
	begin = now();
	for (long i = 0; i < passes; i++)
		lttng_ust_tracepoint(points, number_and_text, (int) i, "a short text");
	*own = now() - begin;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	int count = argc > 1 ? atoi(argv[1]) : 0;
	double sum = 0;

	if (count < 1 || count > MOST || argc < 3) {
		while (getchar() != EOF)
			;
		return 0;
	}
	passes = atol(argv[2]);
	pthread_barrier_init(&all, NULL, (unsigned int) count);
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, &taken[i]);
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], NULL);
		sum += taken[i];
	}
	printf("call=%.3f records=%ld\n", sum / count / (double) passes, passes * count);
	return 0;
}
