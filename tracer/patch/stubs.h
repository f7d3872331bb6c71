/* Where entries of functions lead to, and what functions return to. */
#ifndef VESTIGE_PATCH_STUBS_H
#define VESTIGE_PATCH_STUBS_H

#include "../base/compiler.h"

/* From the place of the return address to the word that is pushed before a stub is entered: where
 * the function goes on. */
#define STUB_NEXT (-1)

/* Jumped to by a thunk, see thunks.h, which has pushed where its function goes on. All registers
 * stay what they are, and so does the stack, but for the return address. */
void stub_function(void) HIDDEN;
/* The same, of a function that has a probe. */
void stub_probe(void) HIDDEN;
/* The same by a thunk of a library call, which has pushed its number: see library_thunks.h. */
void stub_library(void) HIDDEN;
/* What functions return to. */
void exit_stub(void) HIDDEN;

#endif
