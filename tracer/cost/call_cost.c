/*
 * Prints what a recorded call of a function costs, entry and exit together, in nanoseconds.
 *
 * The recorder runs it under the tracer, as it ran the program. Calls of a function that is
 * traced are compared with those of one that is not, in many short rounds; the median is
 * told, so that neither a buffer switch nor another process counts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 64
#define CALLS 400
#define APART __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long counter;

APART static void traced(void)
{
	counter++;
}

APART UNTRACED static void untraced(void)
{
	counter++;
}

UNTRACED static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

UNTRACED static int64_t time_of(void (*function)(void))
{
	const int64_t start = now();

	for (int index = 0; index < CALLS; index++)
		function();
	return now() - start;
}

UNTRACED static int compare(const void *left, const void *right)
{
	const int64_t one = *(const int64_t *) left;
	const int64_t other = *(const int64_t *) right;

	return (one > other) - (one < other);
}

UNTRACED int main(void)
{
	int64_t costs[ROUNDS];

	for (int index = 0; index < ROUNDS; index++) {
		const int64_t with = time_of(traced);

		costs[index] = with - time_of(untraced);
	}
	qsort(costs, ROUNDS, sizeof(costs[0]), compare);
	printf("%lld\n", (long long) (costs[ROUNDS / 2] + CALLS / 2) / CALLS);
	return 0;
}
