/* The limit of a program's address space, in which the tracer has memory, too. */
#ifndef VESTIGE_HOOKS_ADDRESS_LIMIT_H
#define VESTIGE_HOOKS_ADDRESS_LIMIT_H

#include "../base/compiler.h"

/* Before another program takes the place of this one in which there will be no tracer: the limit
 * is what this one has asked for. */
void address_limit_give_back(void) HIDDEN;
/* Before one that will have a tracer, whose limit nobody can raise later: there is room for its
 * threads, too. */
void address_limit_lend(void) HIDDEN;
/* It was started by another process, or not at all. */
void address_limit_take_again(void) HIDDEN;

#endif
