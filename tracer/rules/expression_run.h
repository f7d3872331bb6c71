/* Running filter expressions. */
#ifndef VESTIGE_RULES_EXPRESSION_RUN_H
#define VESTIGE_RULES_EXPRESSION_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "../stream/context.h"
#include "../stream/room.h"
#include "decision.h"
#include "expression.h"

/* Whether any is true for these values, one for each field. */
bool expression_passes(const struct expression *expression, const struct vestige_value *values,
		       const void *ip) HIDDEN;
/* Whether a test of a text is true. */
bool expression_takes_text(const struct test *test, const struct vestige_value *values) HIDDEN
	__attribute__((noinline));

/* What the thread is told it notes: also one that has recorded nothing, and perhaps never will. */
static inline uint64_t expression_ask_number(unsigned int context, const void *ip)
{
	room_notes();
	return context_number(context, ip);
}

/* Without a jump that depends on the values. */
static INLINED bool test_is_in_order(int64_t value, const struct test *test)
{
	const int64_t constant = test->value.integer;

	return test->order >> (1 + (value > constant) - (value < constant)) & 1;
}

/*
 * What tests say as long as they are of integers, or else the first that is not. It calls nothing:
 * whoever calls others at its end only has no registers to keep, for events that do not pass.
 */
static INLINED unsigned int expression_decide(const struct test *tests,
					      const struct vestige_value *values)
{
	unsigned int next = 0;

	do {
		const struct test *test = &tests[next];

		if (UNLIKELY(test->kind != TEST_FIELD))
			return next;
		next = test_is_in_order(values[test->number].as.integer, test) ? test->if_true
									       : test->if_false;
	} while (next < DECIDED_FALSE);
	return next;
}

/*
 * What tests say from one of them on. Here, since whoever goes on by what it says would keep the
 * same registers as a function that it calls for it.
 */
static INLINED bool expression_decide_on(const struct test *tests, unsigned int next,
					 const struct vestige_value *values, const void *ip)
{
	while (next < DECIDED_FALSE) {
		const struct test *test = &tests[next];
		bool passes;

		if (test->kind == TEST_CONTEXT)
			passes = test_is_in_order(
				(int64_t) expression_ask_number(test->number, ip), test);
		else if (UNLIKELY(test->kind == TEST_FIELD))
			passes = test_is_in_order(values[test->number].as.integer, test);
		else
			passes = expression_takes_text(test, values);
		next = passes ? test->if_true : test->if_false;
	}
	return next == DECIDED_TRUE;
}

#endif
