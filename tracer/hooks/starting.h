/* Starting another program. */
#ifndef VESTIGE_HOOKS_STARTING_H
#define VESTIGE_HOOKS_STARTING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../base/compiler.h"

struct start {
	/* The file, as execveat(2) has it. NULL: that of `directory`. */
	int directory;
	const char *file;
	/* Whether it is looked for in the PATH. */
	bool is_searched;
	/* Whether it takes the place of this process. */
	bool is_executed;
	char *const *environment;
	/* Starts it, with an environment that fits; returns whether it runs. */
	bool (*begin)(struct start *start, char *const environment[]);
	/* Its process ID, which `begin` sets if it knows it; else 0. */
	pid_t process;
};

/* Start a program with the environment that it needs, and leave word if it cannot be recorded.
 * errno is that of `begin`. */
void starting_do(struct start *start) HIDDEN;

#endif
