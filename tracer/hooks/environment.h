/* The environment of a program that is executed, where ours does not fit it. */
#ifndef VESTIGE_HOOKS_ENVIRONMENT_H
#define VESTIGE_HOOKS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/compiler.h"

/* Longer variables are passed on as they are. */
#define LONGEST_VARIABLE 2048u

/* A variable with paths of libraries, and what takes its place. */
struct library_list {
	/* NULL where none of them is ours. */
	const char *before;
	char text[LONGEST_VARIABLE];
	size_t size;
	/* How much of the text is the name. */
	size_t name;
	bool is_too_long;
};

struct environment {
	/* Has room for as many as there were, and for NULL. */
	char **variables;
	struct library_list audited;
	struct library_list preloaded;
	/* Whether libraries of ours are not where they should be: nothing will be recorded. */
	bool lacks_libraries;
};

/* Make the variables that the program gets; whether any has changed. */
bool environment_fit(struct environment *fitted, char *const variables[]) HIDDEN;

#endif
