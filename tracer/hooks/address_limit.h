/* The limit of a program's address space, in which the tracer has memory, too. */
#ifndef VESTIGE_HOOKS_ADDRESS_LIMIT_H
#define VESTIGE_HOOKS_ADDRESS_LIMIT_H

#include "../base/compiler.h"

/* Before another program takes the place of this one in which there will be no tracer: the limit
 * is what this one has asked for. */
void address_limit_give_back(void) HIDDEN;
/* It was not executed. */
void address_limit_take_again(void) HIDDEN;

#endif
