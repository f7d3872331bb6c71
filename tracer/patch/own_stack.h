/* Where the stack is that a thread began on. */
#ifndef VESTIGE_PATCH_OWN_STACK_H
#define VESTIGE_PATCH_OWN_STACK_H

#include "../base/compiler.h"

/* Find its lowest address and its size, both uintptr_t; nothing is changed where it is not known. */
void own_stack_find(void *low, void *size) HIDDEN;

#endif
