/*
 * Counters of a thread as contexts, `perf:thread:NAME`; the names are those of perf(1) and
 * lttng-add-context(1).
 *
 * What the kernel counts is asked for with a system call that needs no descriptor. What the
 * processor counts is read from it, see perf_event_open(2); the descriptor is closed at
 * once, since a program may close it and open another file in its place.
 */
#ifndef VESTIGE_PERF_COUNTER_H
#define VESTIGE_PERF_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/agreement.h"

#define COUNTER_HIDDEN __attribute__((visibility("hidden")))

/* Find a counter by its name, or add it; negative when there is none. Not for two threads at
 * once. */
int perf_counter_find(const char *name, size_t length) COUNTER_HIDDEN;
/* The count of this thread; 0 where it cannot be told. */
uint64_t perf_counter_read(unsigned int number, uint64_t process) COUNTER_HIDDEN;
/* Make what threads with counters need, once all are known. */
void perf_counters_start(void) COUNTER_HIDDEN;
/* See to it that the thread's counters are closed when it ends. */
void perf_counter_attend(void) COUNTER_HIDDEN;
/* For the recorder: whether a counter can be had here. */
__attribute__((visibility("default"))) bool vestige_can_count(const char *name);

#endif
