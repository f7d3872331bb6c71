/*
 * Decisions: what most filters are. Fields and contexts are compared with constants, with `&&`,
 * `||` and `!` in between, so what one comparison says leads to the next, or to the answer. It
 * takes no stack, and no values but the one that is looked at.
 */
#ifndef VESTIGE_RULES_DECISION_H
#define VESTIGE_RULES_DECISION_H

#include "../base/compiler.h"
#include "expression.h"

enum test_kind {
	TEST_FIELD,
	TEST_CONTEXT,
	/* Texts: the whole one, or how it begins. */
	TEST_FIELD_TEXT,
	TEST_FIELD_START,
	TEST_CONTEXT_TEXT,
	TEST_CONTEXT_START,
};

/* Added up: when an integer passes. */
enum test_order {
	TEST_IF_LESS = 1 << 0,
	TEST_IF_EQUAL = 1 << 1,
	TEST_IF_GREATER = 1 << 2,
};

/* Where tests lead when there is no more to ask. */
enum { DECIDED_FALSE = 0xFFFD, DECIDED_TRUE = 0xFFFE };

struct test {
	uint8_t kind;
	uint8_t order;
	/* The next test. */
	uint16_t if_false;
	uint16_t if_true;
	/* Of the field or the context. */
	uint16_t number;
	/* Of a text. */
	uint32_t length;
	union {
		int64_t integer;
		const char *text;
	} value;
};

/* Make tests of checked steps, in memory for one a step; how many, or 0 if they ask for more. */
uint32_t decision_make(struct test *tests, const struct step *steps, uint32_t count) HIDDEN;

#endif
