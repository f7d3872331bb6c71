/*
 * The ends of threads: the shadow of a stack is given back, which takes twice as much memory as the
 * stack. Its address stays, since another thread may have the same stack.
 */
#ifndef VESTIGE_PATCH_THREAD_ENDS_H
#define VESTIGE_PATCH_THREAD_ENDS_H

#include "../base/compiler.h"

/* Begin, before there are threads. */
void thread_ends_start(void) HIDDEN;
/* Attend the end of this thread, which keeps there, as uintptr_t, the place of its innermost call. It may use
 * vector registers: it is for vectors_keep(). */
void thread_ends_attend(void *innermost, void *unused) HIDDEN;

#endif
