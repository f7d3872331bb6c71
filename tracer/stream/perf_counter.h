/*
 * Counters of a thread as contexts, `perf:thread:NAME`; the names are those of perf(1) and
 * lttng-add-context(1).
 *
 * What the kernel counts is asked for with a system call that needs no descriptor. What the
 * processor counts is read from it, see perf_event_open(2); the descriptor is closed at
 * once, since a program may close it and open another file in its place.
 */
#ifndef VESTIGE_STREAM_PERF_COUNTER_H
#define VESTIGE_STREAM_PERF_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"

/* Find a counter by its name, or add it; negative when there is none. Not for two threads at
 * once. */
int perf_counter_find(const char *name, size_t length) HIDDEN;
/* The count of this thread; 0 if the kernel does not let us count, or has no register free. */
uint64_t perf_counter_read(unsigned int number, uint64_t process) HIDDEN;
/* Make what threads with counters need, once all are known. */
void perf_counters_start(void) HIDDEN;
/* See to it that the thread's counters are closed when it ends. */
void perf_counter_attend(void) HIDDEN;
/* For the recorder: whether a counter can be had here. */
EXPORTED bool vestige_can_count(const char *name);

#endif
