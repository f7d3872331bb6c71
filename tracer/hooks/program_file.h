/* The file of a program, judged before it is executed. */
#ifndef VESTIGE_HOOKS_PROGRAM_FILE_H
#define VESTIGE_HOOKS_PROGRAM_FILE_H

#include <limits.h>
#include <stdbool.h>

#include "../agreement/arena.h"
#include "../base/compiler.h"

/* Whether the dynamic linker will load no tracer into the program, whose file is named as
 * execveat(2) has it; the reason then. A script is its interpreter. False where it is not known:
 * a file that cannot be read may be anything. */
bool program_file_is_unreached(int directory, const char *path,
			       enum unreached_reason *reason) HIDDEN;

/* Find a program in the PATH of this process, as execvp(3) does; false when it is not there. */
bool program_file_find(const char *name, char path[PATH_MAX]) HIDDEN;

#endif
