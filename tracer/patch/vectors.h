/* Keeping vector registers while others use them. */
#ifndef VESTIGE_PATCH_VECTORS_H
#define VESTIGE_PATCH_VECTORS_H

#include "../base/compiler.h"

/* Find out what there is to keep. */
void vectors_start(void) HIDDEN;
/* Call a function that may use them; they have what they had when it returns. */
void vectors_keep(void (*function)(void *, void *), void *first, void *second) HIDDEN;

#endif
