/*
 * Rules that choose tracepoints: patterns of names, log levels, filters.
 *
 * They are in a file in the trace directory, which src/vestige/record/rules_file.py
 * writes before the program starts, and are read once, when the tracer starts in a program.
 */
#ifndef VESTIGE_RULES_H
#define VESTIGE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../include/vestige/tracepoint-abi.h"

#define RULES_HIDDEN __attribute__((visibility("hidden")))

/* Read the file, if there are rules. */
void rules_start(void) RULES_HIDDEN;
/*
 * Whether an event is recorded. Its filter is set: nothing, or what expression_passes()
 * takes.
 */
bool rules_choose(const struct vestige_provider *provider, struct vestige_event *event)
	RULES_HIDDEN;

#endif
