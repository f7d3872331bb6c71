/* The talks with session daemons, each by a thread of its own; daemons have numbers, see meeting.h. */
#ifndef VESTIGE_HOOKS_ORDERS_H
#define VESTIGE_HOOKS_ORDERS_H

#include <stdbool.h>

#include "../base/compiler.h"

typedef void orders_begin_function(unsigned int which);

/* Do what a daemon asks for, until it is gone. It is told once that the program may begin. */
void orders_take(unsigned int which, orders_begin_function *begin) HIDDEN;
/* End the talks that the parent of this process goes on with. */
void orders_after_fork(void) HIDDEN;
/* End all talks, and begin none; false if that was said before. */
bool orders_end(void) HIDDEN;
bool orders_are_ending(void) HIDDEN;

#endif
