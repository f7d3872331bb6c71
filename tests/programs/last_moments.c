/*
 * last_moments: calls a function until a line of its standard input says how it ends.
 *
 *   N      call step() N times, and answer with the line
 *   crash  end by SIGSEGV
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile long done;

static void step(long number)
{
	done = number;
}

int main(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "crash\n"))
			raise(SIGSEGV);
		for (long number = strtol(line, NULL, 10); number > 0; number--)
			step(number);
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
