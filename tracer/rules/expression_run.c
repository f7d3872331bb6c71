/* Runs filter expressions on the values of an event. */
#include "expression_run.h"

#include <string.h>

#include "../stream/application.h"
#include "element.h"

struct value {
	union {
		int64_t integer;
		double real;
		const char *text;
	} as;
	/* Of a text. */
	size_t length;
};

/* What LTTng writes, and its filters see, in place of no string. */
static const char no_string[] = "(null)";

/* Both of a length; a zero in the pattern stands for any text. */
static bool matches(const char *pattern, size_t pattern_length, const char *text, size_t length)
{
	const char *pattern_end = pattern + pattern_length;
	const char *end = text + length;
	/* Where to go on when the rest does not match: behind the last star. */
	const char *star = NULL;
	const char *retry = NULL;

	while (text < end || pattern < pattern_end) {
		if (pattern < pattern_end && *pattern == '\0') {
			star = ++pattern;
			retry = text;
		} else if (pattern < pattern_end && text < end && *pattern == *text) {
			pattern++;
			text++;
		} else if (star && retry < end) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	return true;
}

static bool is_same(const struct value *left, const struct value *right)
{
	return left->length == right->length &&
		!memcmp(left->as.text, right->as.text, left->length);
}

static void load_string(struct value *to, const struct vestige_value *from)
{
	to->as.text = from->as.bytes ? from->as.bytes : no_string;
	to->length = from->as.bytes ? from->length : sizeof(no_string) - 1;
}

static void load_array(struct value *to, const struct vestige_value *from)
{
	to->as.text = from->as.bytes ? from->as.bytes : no_string;
	to->length = from->as.bytes ? strnlen(from->as.bytes, from->length) : 0;
}

/* An integer of an array; false when it has not so many. */
static bool load_element(struct value *to, const struct vestige_value *from,
			 const struct step *step)
{
	if (step->index >= from->length || !from->as.bytes)
		return false;
	to->as.integer =
		element_at(from, step->index, step->size, step->flags & ELEMENT_IS_SIGNED,
			   step->flags & ELEMENT_IS_SWAPPED);
	return true;
}

/* As processors do it, since C leaves open what becomes of those without one. */
static int64_t to_integer(double real)
{
	return real >= -0x1p63 && real < 0x1p63 ? (int64_t) real : INT64_MIN;
}

static void compare_reals(struct value *top, const struct step *step)
{
	const double left =
		step->flags & LEFT_IS_INTEGER ? (double) top[0].as.integer : top[0].as.real;
	const double right =
		step->flags & RIGHT_IS_INTEGER ? (double) top[1].as.integer : top[1].as.real;

	switch (step->operation & ~(unsigned int) ON_REALS) {
	case OP_LESS:
		top->as.integer = left < right;
		break;
	case OP_LESS_EQUAL:
		top->as.integer = left <= right;
		break;
	case OP_GREATER:
		top->as.integer = left > right;
		break;
	case OP_GREATER_EQUAL:
		top->as.integer = left >= right;
		break;
	case OP_EQUAL:
		top->as.integer = left == right;
		break;
	default:
		top->as.integer = left != right;
	}
}

static bool shift(struct value *top, bool is_left)
{
	const uint64_t number = (uint64_t) top[0].as.integer;
	const uint64_t count = (uint64_t) top[1].as.integer;

	if (count > 63)
		return false;
	top->as.integer = (int64_t) (is_left ? number << count : number >> count);
	return true;
}

/* False also where it is not what this expression takes it for: another one does. */
static bool load_application(struct value *to, const struct step *step)
{
	struct application_value value;

	if (!application_ask(step->number, &value))
		return false;
	switch (value.type) {
	case APPLICATION_STRING:
		to->as.text = value.as.text;
		to->length = strlen(value.as.text);
		return step->operation == (OP_CONTEXT | ON_TEXTS);
	case APPLICATION_FLOAT:
	case APPLICATION_DOUBLE:
		to->as.real = value.as.real;
		return step->operation == (OP_CONTEXT | ON_REALS);
	default:
		to->as.integer = value.as.integer;
		return step->operation == OP_CONTEXT;
	}
}

static const char *ask_text(unsigned int context)
{
	room_notes();
	return context_text(context);
}

static bool load_context(struct value *to, const struct step *step, const void *ip)
{
	if (step->flags & OF_APPLICATION)
		return load_application(to, step);
	if (step->operation == OP_CONTEXT) {
		to->as.integer = (int64_t) expression_ask_number(step->number, ip);
	} else {
		to->as.text = ask_text(step->number);
		to->length = strlen(to->as.text);
	}
	return true;
}

/* Put a constant or a value on the stack. */
static bool load(struct value *to, const struct step *step, const struct vestige_value *values,
		 const void *ip)
{
	switch (step->operation) {
	case OP_INTEGER:
		to->as.integer = step->value.integer;
		return true;
	case OP_REAL:
		to->as.real = step->value.real;
		return true;
	case OP_TEXT:
		to->as.text = step->value.text;
		to->length = step->index;
		return true;
	case OP_FIELD:
		to->as.integer = values[step->number].as.integer;
		return true;
	case OP_FIELD | ON_REALS:
		to->as.real = values[step->number].as.real;
		return true;
	case OP_FIELD | ON_TEXTS:
		load_string(to, &values[step->number]);
		return true;
	case OP_FIELD | ON_ARRAYS:
		load_array(to, &values[step->number]);
		return true;
	case OP_ELEMENT:
		return load_element(to, &values[step->number], step);
	case OP_CONTEXT:
	case OP_CONTEXT | ON_REALS:
	case OP_CONTEXT | ON_TEXTS:
		return load_context(to, step, ip);
	default:
		return false;
	}
}

/* Change the value at the top. */
static void change(struct value *top, const struct step *step)
{
	switch (step->operation) {
	case OP_MINUS:
		top->as.integer = (int64_t) -(uint64_t) top->as.integer;
		break;
	case OP_MINUS | ON_REALS:
		top->as.real = -top->as.real;
		break;
	case OP_NOT:
		top->as.integer = !top->as.integer;
		break;
	case OP_NOT | ON_REALS:
		top->as.integer = top->as.real == 0;
		break;
	case OP_COMPLEMENT:
		top->as.integer = ~top->as.integer;
		break;
	case OP_TO_INTEGER | ON_REALS:
		top->as.integer = to_integer(top->as.real);
		break;
	case OP_MATCHES:
	case OP_MATCHES_NOT:
		top->as.integer = matches(step->value.text, step->index, top->as.text,
					  top->length) == (step->operation == OP_MATCHES);
		break;
	default:
		break;
	}
}

static INLINED bool compare(int64_t left, int64_t right, unsigned int operation)
{
	switch (operation) {
	case OP_LESS:
		return left < right;
	case OP_LESS_EQUAL:
		return left <= right;
	case OP_GREATER:
		return left > right;
	case OP_GREATER_EQUAL:
		return left >= right;
	case OP_EQUAL:
		return left == right;
	default:
		return left != right;
	}
}

/* Put one value in place of two. */
static bool combine(struct value *top, const struct step *step)
{
	const int64_t left = top[0].as.integer;
	const int64_t right = top[1].as.integer;

	switch (step->operation) {
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT:
		return shift(top, step->operation == OP_SHIFT_LEFT);
	case OP_AND:
		top->as.integer = left & right;
		return true;
	case OP_XOR:
		top->as.integer = left ^ right;
		return true;
	case OP_OR:
		top->as.integer = left | right;
		return true;
	case OP_LESS:
		top->as.integer = compare(left, right, OP_LESS);
		return true;
	case OP_LESS_EQUAL:
		top->as.integer = compare(left, right, OP_LESS_EQUAL);
		return true;
	case OP_GREATER:
		top->as.integer = compare(left, right, OP_GREATER);
		return true;
	case OP_GREATER_EQUAL:
		top->as.integer = compare(left, right, OP_GREATER_EQUAL);
		return true;
	case OP_EQUAL:
		top->as.integer = compare(left, right, OP_EQUAL);
		return true;
	case OP_NOT_EQUAL:
		top->as.integer = compare(left, right, OP_NOT_EQUAL);
		return true;
	case OP_EQUAL | ON_TEXTS:
	case OP_NOT_EQUAL | ON_TEXTS:
		top->as.integer =
			is_same(&top[0], &top[1]) == (step->operation == (OP_EQUAL | ON_TEXTS));
		return true;
	default:
		compare_reals(top, step);
		return true;
	}
}

static bool is_true(const struct expression *expression, const struct vestige_value *values,
		    const void *ip)
{
	struct value stack[EXPRESSION_DEPTH];
	/* Behind the one at the top. */
	struct value *end = stack;
	const struct step *step = expression->steps;

	for (;; step++) {
		const unsigned int operation = step->operation & 0x3Fu;

		if (operation == OP_RETURN)
			return end[-1].as.integer != 0;
		if (operation <= OP_CONTEXT) {
			if (!load(end++, step, values, ip))
				return false;
		} else if (operation == OP_SKIP_IF_FALSE || operation == OP_SKIP_IF_TRUE) {
			const int64_t wanted = operation == OP_SKIP_IF_TRUE;

			if ((end[-1].as.integer != 0) != wanted) {
				end--;
				continue;
			}
			end[-1].as.integer = wanted;
			step = &expression->steps[step->index] - 1;
		} else if (operation >= OP_SHIFT_LEFT && operation <= OP_NOT_EQUAL) {
			end--;
			if (!combine(end - 1, step))
				return false;
		} else {
			change(end - 1, step);
		}
	}
}

/* Whether a text begins with another; it has a zero, which that one has not. */
static bool begins_with(const char *text, const char *start, size_t length)
{
	while (length && *text == *start) {
		text++;
		start++;
		length--;
	}
	return !length;
}

bool expression_takes_text(const struct test *test, const struct vestige_value *values)
{
	struct value value;

	switch (test->kind) {
	case TEST_FIELD_TEXT:
		load_string(&value, &values[test->number]);
		return value.length == test->length &&
			!memcmp(value.as.text, test->value.text, test->length);
	case TEST_FIELD_START:
		load_string(&value, &values[test->number]);
		return value.length >= test->length &&
			!memcmp(value.as.text, test->value.text, test->length);
	default:
		value.as.text = ask_text(test->number);
		return begins_with(value.as.text, test->value.text, test->length) &&
			(test->kind == TEST_CONTEXT_START || !value.as.text[test->length]);
	}
}

static APART bool decide_on(const struct test *tests, unsigned int next,
			    const struct vestige_value *values, const void *ip)
{
	return expression_decide_on(tests, next, values, ip);
}

static INLINED bool decide(const struct test *tests, const struct vestige_value *values,
			   const void *ip)
{
	const unsigned int next = expression_decide(tests, values);

	if (UNLIKELY(next < DECIDED_FALSE))
		return decide_on(tests, next, values, ip);
	return next == DECIDED_TRUE;
}

static bool is_true_of_program(const struct expression *expression,
			       const struct vestige_value *values, const void *ip)
{
	bool result;

	application_enter();
	result = is_true(expression, values, ip);
	application_leave();
	return result;
}

static bool is_one_true(const struct expression *expression, const struct vestige_value *values,
			const void *ip)
{
	if (expression->tests)
		return decide(expression->tests, values, ip);
	return expression->asks_program ? is_true_of_program(expression, values, ip)
					: is_true(expression, values, ip);
}

static APART bool is_any_true(const struct expression *expression,
			      const struct vestige_value *values, const void *ip)
{
	for (; expression; expression = expression->next)
		if (is_one_true(expression, values, ip))
			return true;
	return false;
}

bool expression_passes(const struct expression *expression, const struct vestige_value *values,
		       const void *ip)
{
	/* Most filters. */
	if (LIKELY(expression && !expression->next && expression->tests))
		return decide(expression->tests, values, ip);
	return is_any_true(expression, values, ip);
}
