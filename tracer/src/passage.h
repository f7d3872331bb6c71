/*
 * Which threads pass tracepoints whose provider may be unloaded.
 *
 * A thread says so in its stream, and who unloads a provider waits until each thread has been
 * seen outside. See decision 105.
 */
#ifndef VESTIGE_PASSAGE_H
#define VESTIGE_PASSAGE_H

#include "stream.h"

/* The state of tracepoints of a provider: whether it is here for good. */
int passage_state(const void *provider) HIDDEN;
/* The thread has a stream, where it says that it passes a tracepoint. */
void passage_open(struct stream *stream) HIDDEN;
/* Wait until no thread is in a probe that it called before; false when one may still be, as
 * this one. */
bool passage_wait(void) HIDDEN;
/* Before fork(), and in the child, in the only thread that it has. */
void passage_before_fork(void) HIDDEN;
void passage_after_fork(void) HIDDEN;

#endif
