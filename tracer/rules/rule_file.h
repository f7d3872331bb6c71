/* Files of rules, as src/vestige/record/rules/encoding.py makes them; see rules.h. */
#ifndef VESTIGE_RULES_RULE_FILE_H
#define VESTIGE_RULES_RULE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/* Names have less, see LTTNG_UST_TRACEPOINT_NAME_LEN_MAX. */
#define FULL_NAME_SIZE 512

struct rule_file {
	/* NULL when they are damaged, so that nothing is chosen. */
	const char *bytes;
	uint32_t size;
};

/* Where the parts of a rule are. */
struct rule {
	const struct rule_head *head;
	const char *patterns;
	const struct instruction *code;
	const char *text;
};

/* Have rules that stay where they are; false if they are damaged. */
bool rule_file_set(struct rule_file *file, const char *bytes, uint64_t size) HIDDEN;
/* The first rule, and the one after a place, which is set to where that ends; false at the end. */
bool rule_file_next(const struct rule_file *file, uint32_t *place, struct rule *rule) HIDDEN;
/* Whether a rule takes an event by its name and its level; a filter may say more. */
bool rule_takes(const struct rule *rule, const char *name, int32_t level) HIDDEN;

#endif
