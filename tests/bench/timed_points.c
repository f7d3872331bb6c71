/*
 * timed_points N [BYTES]: passes a tracepoint N times, and times it by itself. Printed are
 * nanoseconds of a pass, of one of the same loop without it, and how many records there
 * should be. BYTES are those of the text, a few by default.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points-tp.h"

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static void barrier(void)
{
	__asm__ volatile("" ::: "memory");
}

int main(int argc, char **argv)
{
	const long passes = argc > 1 ? atol(argv[1]) : 1000000;
	static char text[1 << 14] = "a short text";
	double begin;
	double middle;
	double end;

	if (argc > 2)
		memset(text, 'x', (size_t) atol(argv[2]) % (sizeof(text) - 1));
	begin = now();
	for (long i = 0; i < passes; i++)
		barrier();
	middle = now();
	for (long i = 0; i < passes; i++) {
		lttng_ust_tracepoint(points, number_and_text, (int) i, text);
		barrier();
	}
	end = now();
	printf("call=%.3f bare=%.3f records=%ld\n", (end - middle) / (double) passes,
	       (middle - begin) / (double) passes, passes);
	return 0;
}
