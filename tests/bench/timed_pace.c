/*
 * timed_pace SECONDS: passes a tracepoint each microsecond for so long. Printed are nanoseconds
 * of a pass: the median, what 99.99 of 100 take at most, and the longest; and how many there were.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "points-tp.h"

enum { STEP = 1000, LONGEST = 1 << 20 };

static uint32_t counts[LONGEST];
/* By nanoseconds; the last one has all that are longer. */

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
}

static unsigned int up_to(double share, uint64_t passes)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; i < LONGEST; i++) {
		seen += counts[i];
		if ((double) seen >= share * (double) passes)
			return i;
	}
	return LONGEST;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1;
	const uint64_t first = now();
	const uint64_t last = first + (uint64_t) (seconds * 1e9);
	uint64_t begin = first;
	uint64_t passes = 0;
	uint64_t longest = 0;

	while (begin < last) {
		uint64_t taken;

		lttng_ust_tracepoint(points, number_and_text, (int) passes, "a short text");
		taken = now() - begin;
		counts[taken < LONGEST ? taken : LONGEST - 1]++;
		longest = taken > longest ? taken : longest;
		passes++;
		while ((begin = now()) < first + passes * STEP && begin < last)
			;
	}
	printf("median=%u p9999=%u longest=%llu records=%llu\n", up_to(0.5, passes),
	       up_to(0.9999, passes), (unsigned long long) longest, (unsigned long long) passes);
	return 0;
}
