/* Learning which objects are there from the list of the dynamic linker. */
#ifndef VESTIGE_OBJECTS_LOOKS_H
#define VESTIGE_OBJECTS_LOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Compare what is known with the list of the dynamic linker, at the start and later. */
void objects_take_look(bool is_start) HIDDEN;
/* Where it does not tell: learn which object an address is in, if none is known. */
void objects_look(uintptr_t address) HIDDEN;

#endif
