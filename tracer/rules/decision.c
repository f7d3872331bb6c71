/* Makes decisions of expressions that allow it. */
#include "decision.h"

/* Of a place where no test begins. */
#define NO_TEST 0xFFFFu

struct maker {
	struct test *tests;
	uint32_t test_count;
	const struct step *steps;
	uint32_t count;
	/* Of each step: the test that begins there. */
	uint16_t begins[MOST_INSTRUCTIONS];
	/* Of each test: the step after it. */
	uint16_t ends[MOST_INSTRUCTIONS];
};

_Static_assert(MOST_INSTRUCTIONS < DECIDED_FALSE, "tests have other numbers");

static const struct step *step_at(const struct maker *maker, uint32_t place)
{
	static const struct step nothing = {.operation = OP_RETURN};

	return place < maker->count ? &maker->steps[place] : &nothing;
}

/* A number, with signs before it, at a place; the place after it, or 0. */
static uint32_t read_constant(const struct maker *maker, uint32_t place, int64_t *value)
{
	const struct step *step = step_at(maker, place);

	if (step->operation != OP_INTEGER)
		return 0;
	*value = step->value.integer;
	while (step_at(maker, ++place)->operation == OP_MINUS)
		*value = (int64_t) -(uint64_t) *value;
	return place;
}

static bool is_integer(const struct step *step)
{
	return step->operation == OP_FIELD ||
		(step->operation == OP_CONTEXT && !(step->flags & OF_APPLICATION));
}

static bool is_text(const struct step *step)
{
	return step->operation == (OP_FIELD | ON_TEXTS) ||
		(step->operation == (OP_CONTEXT | ON_TEXTS) && !(step->flags & OF_APPLICATION));
}

/* When the left side, as against the right one, makes a comparison true; 0: never. */
static unsigned int order_of(unsigned int operation)
{
	switch (operation) {
	case OP_LESS:
		return TEST_IF_LESS;
	case OP_LESS_EQUAL:
		return TEST_IF_LESS | TEST_IF_EQUAL;
	case OP_GREATER:
		return TEST_IF_GREATER;
	case OP_GREATER_EQUAL:
		return TEST_IF_GREATER | TEST_IF_EQUAL;
	case OP_EQUAL:
		return TEST_IF_EQUAL;
	case OP_NOT_EQUAL:
		return TEST_IF_LESS | TEST_IF_GREATER;
	default:
		return 0;
	}
}

/* The same with the sides changed. */
static unsigned int turned(unsigned int order)
{
	return (order & TEST_IF_EQUAL) | (order & TEST_IF_LESS ? TEST_IF_GREATER : 0u) |
		(order & TEST_IF_GREATER ? TEST_IF_LESS : 0u);
}

/* A field or a context that is an integer, alone or compared; the place after it, or 0. */
static uint32_t read_number(const struct maker *maker, uint32_t place, struct test *test)
{
	uint32_t before = read_constant(maker, place, &test->value.integer);
	const struct step *step = step_at(maker, before ? before : place);
	uint32_t after = (before ? before : place) + 1;

	if (!is_integer(step))
		return 0;
	test->kind = step->operation == OP_FIELD ? TEST_FIELD : TEST_CONTEXT;
	test->number = (uint16_t) step->number;
	if (!before)
		before = read_constant(maker, after, &test->value.integer);
	else
		before = 0;
	after = before ? before : after;
	test->order = (uint8_t) order_of(step_at(maker, after)->operation);
	if (step_at(maker, place)->operation == OP_INTEGER)
		test->order = (uint8_t) turned(test->order);
	if (test->order)
		return after + 1;
	/* Alone, it is true unless it is 0. */
	if (after != place + 1)
		return 0;
	test->value.integer = 0;
	test->order = TEST_IF_LESS | TEST_IF_GREATER;
	return after;
}

/* Texts that are equal to a constant, or begin with it; the place after it, or 0. */
static uint32_t read_text(const struct maker *maker, uint32_t place, struct test *test,
			  bool *is_negative)
{
	const struct step *step = step_at(maker, place);
	const struct step *next = step_at(maker, place + 1);
	const unsigned int then = step_at(maker, place + 2)->operation;
	const bool is_field = step->operation == (OP_FIELD | ON_TEXTS);

	if (!is_text(step))
		return 0;
	test->number = (uint16_t) step->number;
	test->value.text = next->value.text;
	test->length = (uint32_t) next->index;
	if (next->operation == OP_TEXT &&
	    (then == (OP_EQUAL | ON_TEXTS) || then == (OP_NOT_EQUAL | ON_TEXTS))) {
		test->kind = is_field ? TEST_FIELD_TEXT : TEST_CONTEXT_TEXT;
		*is_negative = then == (OP_NOT_EQUAL | ON_TEXTS);
		return place + 3;
	}
	if ((next->operation != OP_MATCHES && next->operation != OP_MATCHES_NOT) ||
	    !test->length ||
	    memchr(test->value.text, 0, test->length) != test->value.text + test->length - 1)
		return 0;
	test->length--;
	test->kind = is_field ? TEST_FIELD_START : TEST_CONTEXT_START;
	*is_negative = next->operation == OP_MATCHES_NOT;
	return place + 2;
}

static bool is_between(unsigned int operation)
{
	return operation == OP_SKIP_IF_FALSE || operation == OP_SKIP_IF_TRUE ||
		operation == OP_NOT || operation == OP_TO_INTEGER || operation == OP_RETURN;
}

/* Find all tests; false when there is anything else. */
static bool find_tests(struct maker *maker)
{
	uint32_t place = 0;

	while (place < maker->count) {
		struct test *test = &maker->tests[maker->test_count];
		bool is_negative = false;
		uint32_t after;

		maker->begins[place] = NO_TEST;
		if (is_between(step_at(maker, place)->operation)) {
			place++;
			continue;
		}
		*test = (struct test) {0};
		after = read_number(maker, place, test);
		if (!after)
			after = read_text(maker, place, test, &is_negative);
		if (!after)
			return false;
		/* Which way is which, until it is known where they lead. */
		test->if_true = !is_negative;
		maker->begins[place] = (uint16_t) maker->test_count;
		maker->ends[maker->test_count++] = (uint16_t) after;
		while (++place < after)
			maker->begins[place] = NO_TEST;
	}
	return maker->test_count != 0;
}

/* Where it goes on with a truth value; NO_TEST when that is not the end of it. */
static uint32_t follow(const struct maker *maker, uint32_t place, bool is_true)
{
	for (;;) {
		const struct step *step = step_at(maker, place);

		switch (step->operation) {
		case OP_RETURN:
			return is_true ? DECIDED_TRUE : DECIDED_FALSE;
		case OP_NOT:
			is_true = !is_true;
			place++;
			break;
		case OP_TO_INTEGER:
			place++;
			break;
		case OP_SKIP_IF_FALSE:
		case OP_SKIP_IF_TRUE:
			if (is_true == (step->operation == OP_SKIP_IF_TRUE)) {
				place = (uint32_t) step->index;
				break;
			}
			/* It is taken away, and the other side follows. */
			return place + 1 < maker->count ? maker->begins[place + 1] : NO_TEST;
		default:
			return NO_TEST;
		}
	}
}

uint32_t decision_make(struct test *tests, const struct step *steps, uint32_t count)
{
	struct maker maker = {.tests = tests, .steps = steps, .count = count};

	if (!find_tests(&maker) || maker.begins[0] != 0)
		return 0;
	for (uint32_t number = 0; number < maker.test_count; number++) {
		struct test *test = &tests[number];
		const bool is_positive = test->if_true;
		const uint32_t if_true = follow(&maker, maker.ends[number], is_positive);
		const uint32_t if_false = follow(&maker, maker.ends[number], !is_positive);

		if (if_true == NO_TEST || if_false == NO_TEST)
			return 0;
		test->if_true = (uint16_t) if_true;
		test->if_false = (uint16_t) if_false;
	}
	return maker.test_count;
}
