/*
 * Counters and contexts of programs that the records of a channel have, in their order.
 *
 * Both have numbers in this process, which depend on what was asked for before. Another process has
 * others, but writes the same records, so a channel lists them as its recorder has. A list stays as it
 * is once it is known: a thread may be in the middle of a record when another recording begins.
 */
#ifndef VESTIGE_STREAM_CONTEXT_LIST_H
#define VESTIGE_STREAM_CONTEXT_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"

/* In place of a number: there are too many others. Counters are 0 then, contexts are none. */
#define NO_NUMBER UINT8_MAX
/* Of each counter in a record. */
#define COUNTER_SIZE 8u

struct context_list {
	uint8_t counter_count;
	uint8_t application_count;
	uint8_t counters[MOST_COUNTERS];
	uint8_t applications[MOST_APPLICATION_CONTEXTS];
};

/* Number a list; 0 is the one without any. Negative when there are too many others. Not for two
 * threads at once. */
int context_list_find(const struct context_list *wanted) HIDDEN;
const struct context_list *context_list_get(unsigned int number) HIDDEN;

#endif
