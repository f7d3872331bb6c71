/* The thread of a program that takes orders from a session daemon. */
#ifndef VESTIGE_HOOKS_CONTROL_H
#define VESTIGE_HOOKS_CONTROL_H

#include "../base/compiler.h"

/* Before the program filters its system calls: take no orders any more. */
void control_leave(void) HIDDEN;

#endif
