/* Telling the recorder that a part of the tracing is of another build, and records nothing. */
#ifndef VESTIGE_BASE_REFUSAL_H
#define VESTIGE_BASE_REFUSAL_H

#include <stdbool.h>

#include "compiler.h"

/* Write a line to the file of refusals in the directory of a trace, if the recorder has made
 * it: what agrees on what, its version, and its name; NULL is that of the program. False where it
 * cannot be written. */
bool refusal_write(const char *directory, const char *agreement, const char *version,
		   const char *name) HIDDEN;

#endif
