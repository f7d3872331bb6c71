/*
 * Rules that choose tracepoints: patterns of names, log levels, filters.
 *
 * They lie in the arena, where programs cannot write, or come from a session daemon:
 * src/vestige/record/rules/encoding.py makes them. Each channel has its own.
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
void rules_set(uint32_t channel, const char *bytes, uint64_t size) HIDDEN;
/*
 * Whether an event is recorded for a channel. Its filter is stored: nothing, or what
 * expression_passes() takes.
 */
bool rules_choose(uint32_t channel, const struct vestige_provider *provider,
		  const struct vestige_event *event, const void **filter) HIDDEN;

#endif
