/* Learning which objects are there from the list of the dynamic linker. */
#ifndef VESTIGE_OBJECTS_LOOKS_H
#define VESTIGE_OBJECTS_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Learn from the list of the dynamic linker what is loaded; whether that is for good, since the
 * program begins. */
void objects_take_first_look(bool is_for_good) HIDDEN;
/* Compare what is known with that list, later. */
void objects_take_look(void) HIDDEN;
/* Where it does not tell: learn which object an address is in, if none is known. */
void objects_look(uintptr_t address) HIDDEN;

#endif
