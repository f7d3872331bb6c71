/*
 * Passages of threads that record nothing: they pass tracepoints for triggers alone, and have no data
 * stream that would say so; see passage.h.
 */
#ifndef VESTIGE_STREAM_LONE_H
#define VESTIGE_STREAM_LONE_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"
#include "notes.h"

/* The passage of this thread; NULL where too many others have one. */
struct vestige_passage *lone_passage(void) HIDDEN;
/* What this thread was told of contexts; NULL if it never passed one in this way. */
struct known_contexts *lone_known(void) HIDDEN;
/* Wait until each has been seen outside; false when one may still be in a probe, or this one is. */
bool lone_wait(void) HIDDEN;
/* In the child, in the only thread that it has. */
void lone_after_fork(void) HIDDEN;

#endif
