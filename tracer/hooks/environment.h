/* The environment of a program that is started, where ours does not fit it or is not in it. */
#ifndef VESTIGE_HOOKS_ENVIRONMENT_H
#define VESTIGE_HOOKS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/compiler.h"

/* Variables that may be added. */
#define ENVIRONMENT_MORE 6u

struct environment {
	/* Has room for as many as there were, for those that are added, and for NULL. */
	char **variables;
	/* For those that change: as much as environment_size() says. */
	char *text;
	/* Whether our libraries are to be in it. */
	bool is_recorded;
	/* Whether they can be: the program's dynamic linker takes those of this machine. */
	bool takes_libraries;
	/* Set: whether libraries of ours are not where they should be. */
	bool lacks_libraries;
};

/* Keep what the recorder has put into the environment of this process: the program may clear it. */
void environment_keep(void) HIDDEN;
/* Whether that has been done. */
bool environment_is_kept(void) HIDDEN;
/* Whether a program with these variables is to be recorded: it may ask for the opposite. */
bool environment_is_recorded(char *const variables[]) HIDDEN;
/* Whether our libraries are not among them. */
bool environment_lacks_tracer(char *const variables[]) HIDDEN;
/* Whether these are for a tool of Valgrind, which starts the program in its own way. */
bool environment_is_of_valgrind(char *const variables[]) HIDDEN;
/* Most bytes that the texts take that may change. */
size_t environment_size(char *const variables[]) HIDDEN;
/* Make the variables that the program gets; whether any has changed. */
bool environment_fit(struct environment *fitted, char *const variables[]) HIDDEN;

#endif
