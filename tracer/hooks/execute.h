/* Executing programs by the numbers of system calls. */
#ifndef VESTIGE_HOOKS_EXECUTE_H
#define VESTIGE_HOOKS_EXECUTE_H

#include "../base/compiler.h"

/* syscall() of SYS_execve or SYS_execveat, with its arguments. It comes back, with -1 and errno,
 * where nothing was executed. */
long execute_by_number(long number, long first, long second, long third, long fourth,
		       long fifth) HIDDEN;

#endif
