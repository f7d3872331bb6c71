/*
 * Rules that choose tracepoints: patterns of names, log levels, filters.
 *
 * They are in `.rules` in the trace directory, which src/vestige/record/rules_file.py
 * writes before the program starts, and are read once, when the tracer starts in a program.
 */
#ifndef VESTIGE_RULES_H
#define VESTIGE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "../include/vestige/tracepoint-abi.h"

#define RULES_MAGIC "VESTRUL1"

/* Before all rules. */
struct rules_head {
	char magic[8];
	/* Bytes of the file. */
	uint32_t size;
	uint32_t rule_count;
};

/* Before each rule. Its patterns follow, each ended by a zero: that of the names that are
 * chosen, then those of names that are not; then instructions, and their text. All three
 * parts are a multiple of eight bytes. */
struct rule_head {
	/* Bytes of the rule with this. */
	uint32_t size;
	int32_t first_level;
	int32_t last_level;
	uint32_t pattern_count;
	uint32_t patterns_size;
	uint32_t instruction_count;
	uint32_t text_size;
	uint32_t reserved;
};

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
