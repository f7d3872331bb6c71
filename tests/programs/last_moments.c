/*
 * last_moments: calls a function until a line of its standard input says how it ends.
 *
 *   N      call step() N times, and answer with the line
 *   crash  end by SIGSEGV
 *   child  fork a process that calls step() once and waits for a signal; answer when it ended
 *   orphan the same, but answer at once, and do not ask how it ends
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long done;

static void step(long number)
{
	done = number;
}

static pid_t begin_child(void)
{
	const pid_t child = fork();

	if (!child) {
		step(1);
		for (;;)
			pause();
	}
	return child;
}

int main(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		if (!strcmp(line, "crash\n"))
			raise(SIGSEGV);
		if (!strcmp(line, "child\n"))
			waitpid(begin_child(), NULL, 0);
		if (!strcmp(line, "orphan\n"))
			begin_child();
		for (long number = strtol(line, NULL, 10); number > 0; number--)
			step(number);
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
