/*
 * Rules that choose tracepoints: patterns of names, log levels, filters.
 *
 * They lie in the arena, where programs cannot write: src/vestige/record/rules/encoding.py makes
 * them before the program starts.
 */
#ifndef VESTIGE_RULES_RULES_H
#define VESTIGE_RULES_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/* Have other rules, which stay where they are; NULL: there are none, and all events are
 * recorded. Damaged ones choose nothing. */
void rules_set(const char *bytes, uint64_t size) HIDDEN;
/*
 * Whether an event is recorded. Its filter is set: nothing, or what expression_passes()
 * takes.
 */
bool rules_choose(const struct vestige_provider *provider, struct vestige_event *event) HIDDEN;

#endif
