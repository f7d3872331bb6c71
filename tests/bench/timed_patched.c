/*
 * Calls in a program that was not compiled for a recorder, timed by the program itself; what is
 * measured is printed as words NAME=VALUE. The first argument says what is called, the second how
 * often:
 *
 *   leaf      a function of the program
 *   library   one of the C library
 *   probe     one with arguments and a result
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define PLAIN __attribute__((no_instrument_function))

static volatile long counter;

APART void leaf(void)
{
	counter++;
}

APART long sum(int first, long second)
{
	counter++;
	return first + second;
}

PLAIN static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
}

PLAIN static uint64_t call(const char *what, long calls)
{
	const uint64_t begin = now();

	if (!strcmp(what, "leaf"))
		for (long index = 0; index < calls; index++)
			leaf();
	else if (!strcmp(what, "library"))
		for (long index = 0; index < calls; index++)
			counter += labs(index);
	else
		for (long index = 0; index < calls; index++)
			counter += sum(1, index);
	return now() - begin;
}

PLAIN int main(int count, char **words)
{
	const long calls = count == 3 ? atol(words[2]) : 0;
	uint64_t taken;

	if (calls < 1)
		return 2;
	/* The tracer meets the thread before the time is taken. */
	call(words[1], 1);
	taken = call(words[1], calls);
	printf("calls=%ld call=%.3f\n", calls + 1, (double) taken / (double) calls);
	return 0;
}
