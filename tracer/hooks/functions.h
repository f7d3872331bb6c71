/* Recording a call of a function: what its hooks do, for those who have no hooks. */
#ifndef VESTIGE_HOOKS_FUNCTIONS_H
#define VESTIGE_HOOKS_FUNCTIONS_H

#include "../base/compiler.h"

/* Record that a function was entered, or left, unless settings or rules leave it out. */
void function_entered(void *function, void *call_site) HIDDEN;
void function_left(void *function, void *call_site) HIDDEN;
/* The same of a function of a library, by who called it. */
void library_function_entered(void *function, void *call_site) HIDDEN;
void library_function_left(void *function, void *call_site) HIDDEN;

#endif
