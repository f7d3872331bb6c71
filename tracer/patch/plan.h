/* Plans: which entries of an object are rewritten, see agreement/plan.py. */
#ifndef VESTIGE_PATCH_PLAN_H
#define VESTIGE_PATCH_PLAN_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/plan.h"
#include "../base/compiler.h"

/* A plan in memory of its own, whose numbers have been checked. */
struct plan {
	char *bytes;
	/* Of all that is mapped, and of the functions. */
	size_t mapped;
	size_t size;
	uint32_t functions;
	/* What comes after it: the probes of an object that was not foreseen. */
	const char *probes;
	size_t probes_size;
};

/* One function of it. */
struct plan_entry {
	const struct plan_function *function;
	const uint8_t *code;
	const struct plan_fixup *fixups;
};

/* Read the plan of an object by its build ID, if there is one. NULL, or why it is of no use. */
const char *plan_read(struct plan *plan, const struct dl_phdr_info *info) HIDDEN;
/* Leave out the functions that nobody chose, but for those with probes: what is not rewritten costs
 * nothing. Once; the object is mapped with this bias. */
void plan_choose(struct plan *plan, uintptr_t bias) HIDDEN;
/* Give its memory back. */
void plan_close(struct plan *plan) HIDDEN;
/* Take the next function; `at` is 0 at first. False after the last. */
bool plan_next(const struct plan *plan, size_t *at, struct plan_entry *entry) HIDDEN;

#endif
