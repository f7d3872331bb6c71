/* Probes: functions of which arguments and results are recorded. */
#ifndef VESTIGE_PATCH_PROBE_H
#define VESTIGE_PATCH_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/plan.h"
#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/* An event of a probe, at the entry or at the exit. */
struct probe_event {
	struct vestige_tracepoint point;
	struct vestige_event event;
	struct vestige_event_class class;
	const struct probe_value *values;
	uint32_t count;
	/* Whether any of them is in a vector register. */
	bool has_vectors;
	/* Bytes of the body where all can be copied as they are, and it is short; else 0. See
	 * plain_hit.h. */
	uint32_t plain_size;
	char name[256];
};

struct probe {
	/* Where it is in this process; 0 for one whose object is not here. */
	uintptr_t function;
	uint32_t flags;
	struct probe_event entry;
	struct probe_event exit;
};

/* What was in registers when a probe was hit. */
struct probe_hit {
	const struct probe_event *event;
	uintptr_t function;
	/* Those that have values, by DWARF's numbers; and the low halves of xmm0 to xmm7, if the event
	 * has any of them. */
	uintptr_t general[12];
	uint64_t vectors[8];
	/* The first argument on the stack. */
	uintptr_t stack;
};

/* Record a hit, unless rules or a filter leave it out. It may use vector registers: it is for
 * vectors_keep(). */
void probe_record(void *hit, void *unused) HIDDEN;

#endif
