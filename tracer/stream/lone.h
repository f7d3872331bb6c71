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

/* The memory of a thread, or of one that has ended: then another one may have it. */
struct lone {
	struct vestige_passage passage;
	struct known_contexts known;
	uint32_t thread;
};

/* That of this thread; NULL if it never passed a tracepoint in this way. */
extern __thread struct lone *lone_own HIDDEN __attribute__((tls_model("initial-exec")));

/* What this thread was told of contexts; NULL if there is nowhere to keep it. */
static inline struct known_contexts *lone_known(void)
{
	return lone_own ? &lone_own->known : NULL;
}

/* The passage of this thread; NULL where too many others have one. */
struct vestige_passage *lone_passage(void) HIDDEN;
/* Wait until each has been seen outside; false when one may still be in a probe, or this one is. */
bool lone_wait(void) HIDDEN;
/* In the child, in the only thread that it has. */
void lone_after_fork(void) HIDDEN;

#endif
