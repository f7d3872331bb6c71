/*
 * Calls at known times; the first argument says what:
 *
 *   marks FILE SECONDS [GATE]
 *                        calls mark() again and again, and writes CLOCK_MONOTONIC before
 *                        and after each call to FILE; the first line has CLOCK_REALTIME
 *                        between both instead. A file GATE ends it before the time.
 *   relay TURNS          two processes call turn(), each after the other has told it to
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

#define STEP 5000000

static volatile long counter;

APART void mark(void)
{
	counter++;
}

APART void turn(void)
{
	counter++;
}

PLAIN static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

PLAIN static int marks(const char *path, double seconds, const char *gate)
{
	const struct timespec step = {0, STEP};
	FILE *file = fopen(path, "w");
	int64_t before;
	int64_t real;
	int64_t end;

	if (!file)
		return 1;
	before = now(CLOCK_MONOTONIC);
	real = now(CLOCK_REALTIME);
	end = now(CLOCK_MONOTONIC);
	fprintf(file, "%ld %ld %ld\n", (long) before, (long) end, (long) real);
	end += (int64_t) (seconds * 1e9);
	printf("ready\n");
	fflush(stdout);
	do {
		int64_t after;

		before = now(CLOCK_MONOTONIC);
		mark();
		after = now(CLOCK_MONOTONIC);
		fprintf(file, "%ld %ld\n", (long) before, (long) after);
		nanosleep(&step, NULL);
	} while (before < end && !(gate && access(gate, F_OK) == 0));
	return fclose(file) != 0;
}

PLAIN static void take_turns(int input, int output, long turns)
{
	char token;

	for (long index = 0; index < turns && read(input, &token, 1) == 1; index++) {
		turn();
		if (write(output, &token, 1) != 1)
			break;
	}
}

PLAIN static int relay(long turns)
{
	int there[2];
	int back[2];
	pid_t child;

	if (pipe(there) || pipe(back) || write(back[1], "x", 1) != 1)
		return 1;
	child = fork();
	if (child == 0) {
		take_turns(there[0], back[1], turns);
		_exit(0);
	}
	take_turns(back[0], there[1], turns);
	return waitpid(child, NULL, 0) != child;
}

PLAIN int main(int count, char **words)
{
	if (count >= 4 && !strcmp(words[1], "marks"))
		return marks(words[2], atof(words[3]), words[4]);
	if (count == 3 && !strcmp(words[1], "relay"))
		return relay(atol(words[2]));
	return 2;
}
