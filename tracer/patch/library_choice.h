/* Which library calls are recorded, and how. */
#ifndef VESTIGE_PATCH_LIBRARY_CHOICE_H
#define VESTIGE_PATCH_LIBRARY_CHOICE_H

#include <stdbool.h>

#include "../base/compiler.h"

enum library_treatment {
	/* It is not recorded. */
	LIBRARY_LEFT,
	/* Its return address must stay what it is. */
	LIBRARY_PASSES,
	LIBRARY_RECORDED,
};

/* Read the patterns in the settings, once; false if there are none. */
bool library_choice_start(void) HIDDEN;
/* Whether calls from an object are recorded, by its path; that of the program is empty. */
bool library_choice_takes_caller(const char *path) HIDDEN;
/* Whether a path is that of a library of Vestige's. */
bool library_choice_is_ours(const char *path) HIDDEN;
/* What becomes of calls of a function in a library. */
enum library_treatment library_choice_treats(const char *name, const char *library) HIDDEN;

#endif
