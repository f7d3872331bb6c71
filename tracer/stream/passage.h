/*
 * Which threads pass tracepoints whose provider may be unloaded.
 *
 * A thread says so in its stream, and who unloads a provider waits until each thread has been
 * seen outside. See decision 105.
 */
#ifndef VESTIGE_STREAM_PASSAGE_H
#define VESTIGE_STREAM_PASSAGE_H

#include <stdbool.h>

#include "../base/compiler.h"

/* The state of tracepoints whose provider may be unloaded: where a thread finds what it says so
 * with. */
int passage_state(void) HIDDEN;
/* Where this thread counts the probes of LTTng-UST that it is in, which programs do in code of
 * their own; NULL where it cannot record. */
unsigned long *passage_nesting(void) HIDDEN;
/* Whether who waits has the kernel make a barrier for all threads, so that they need none. */
bool passage_is_fenced(void) HIDDEN;
/* Wait until no thread is in a probe that it called before; false when one may still be, as
 * this one. */
bool passage_wait(void) HIDDEN;
/* The same of threads that count their probes elsewhere; NULL: there are none. */
typedef bool passage_waiter(void);
void passage_wait_also(passage_waiter *others) HIDDEN;
/* Before fork(), and in the child, in the only thread that it has. */
void passage_before_fork(void) HIDDEN;
void passage_after_fork(void) HIDDEN;

#endif
