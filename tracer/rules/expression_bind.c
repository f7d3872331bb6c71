/* Checks byte code for one event class, and finds its fields. */
#include "expression_bind.h"

#include <string.h>

#include "../base/system.h"
#include "../stream/application.h"
#include "../stream/context.h"
#include "decision.h"
#include "element.h"
#include "expression_texts.h"

/* How many skips lead over one instruction, at most. */
#define MOST_SKIPS 128u

enum type { TYPE_INTEGER, TYPE_REAL, TYPE_TEXT };

/* Where a skip leads, and how many values are there then. */
struct skip {
	uint32_t target;
	uint32_t depth;
};

struct operand {
	int number;
	enum type type;
};

struct binder {
	const struct vestige_event_class *event_class;
	const char *text;
	uint32_t text_size;
	uint32_t count;
	uint32_t depth;
	uint32_t skip_count;
	/* Contexts of the program, and what they are taken for. */
	uint32_t operand_count;
	struct operand operands[MOST_APPLICATION_OPERANDS];
	enum type types[EXPRESSION_DEPTH];
	/* The inner ones come last, and end first. */
	struct skip skips[MOST_SKIPS];
};

static struct expression *all;

static bool push(struct binder *binder, enum type type)
{
	if (binder->depth == EXPRESSION_DEPTH)
		return false;
	binder->types[binder->depth++] = type;
	return true;
}

/* Whether so many values may be taken: those below a skip's belong to both ways. */
static bool has(const struct binder *binder, uint32_t wanted)
{
	const uint32_t below =
		binder->skip_count ? binder->skips[binder->skip_count - 1].depth - 1 : 0;

	return binder->depth >= below + wanted;
}

static bool take_text(const struct binder *binder, const struct instruction *from,
		      struct step *step)
{
	const uint32_t offset = from->value.text.offset;
	const uint32_t length = from->value.text.length;

	if (offset > binder->text_size || length > binder->text_size - offset)
		return false;
	/* Where it is once for all: expressions that say the same are the same. */
	step->value.text = expression_text(binder->text + offset, length);
	step->index = length;
	return step->value.text != NULL;
}

static const struct vestige_field *find_field(const struct binder *binder, struct step *step)
{
	const struct vestige_event_class *class = binder->event_class;

	for (uint32_t number = 0; number < class->field_count; number++) {
		const struct vestige_field *field = &class->fields[number];

		if (strlen(field->name) != step->index ||
		    memcmp(field->name, step->value.text, step->index) != 0)
			continue;
		step->number = number;
		return field;
	}
	return NULL;
}

static bool bind_field(struct binder *binder, struct step *step)
{
	const struct vestige_field *field = find_field(binder, step);

	if (!field)
		return false;
	switch (field->kind) {
	case VESTIGE_INTEGER:
	case VESTIGE_ENUM:
		return push(binder, TYPE_INTEGER);
	case VESTIGE_FLOAT:
		step->operation |= ON_REALS;
		return push(binder, TYPE_REAL);
	case VESTIGE_STRING:
		step->operation |= ON_TEXTS;
		return push(binder, TYPE_TEXT);
	case VESTIGE_ARRAY:
	case VESTIGE_SEQUENCE:
		step->operation |= ON_ARRAYS;
		return (field->flags & VESTIGE_TEXT) && field->size == 1 &&
			push(binder, TYPE_TEXT);
	default:
		return false;
	}
}

static bool bind_element(struct binder *binder, struct step *step, uint32_t index)
{
	const struct vestige_field *field = find_field(binder, step);

	if (!field || (field->kind != VESTIGE_ARRAY && field->kind != VESTIGE_SEQUENCE))
		return false;
	if (field->kind == VESTIGE_ARRAY && index >= field->length)
		return false;
	if (field->size != 1 && field->size != 2 && field->size != 4 && field->size != 8)
		return false;
	step->index = index;
	step->size = field->size;
	if (field->flags & VESTIGE_SIGNED)
		step->flags |= ELEMENT_IS_SIGNED;
	if (element_is_swapped(field))
		step->flags |= ELEMENT_IS_SWAPPED;
	return push(binder, TYPE_INTEGER);
}

/* What it is, an event tells: here it is what it is taken for. */
static bool bind_application(struct binder *binder, struct step *step)
{
	const int number = application_find(step->value.text, step->index);
	uint32_t place = 0;

	while (place < binder->operand_count && binder->operands[place].number != number)
		place++;
	if (number < 0 || place == MOST_APPLICATION_OPERANDS)
		return false;
	if (place == binder->operand_count)
		binder->operands[binder->operand_count++] =
			(struct operand) {number, TYPE_INTEGER};
	step->number = (uint32_t) number;
	step->flags |= OF_APPLICATION;
	if (binder->operands[place].type == TYPE_REAL)
		step->operation |= ON_REALS;
	else if (binder->operands[place].type == TYPE_TEXT)
		step->operation |= ON_TEXTS;
	return push(binder, binder->operands[place].type);
}

static bool bind_context(struct binder *binder, struct step *step)
{
	const int number = context_find(step->value.text, step->index);

	if (number < 0)
		return bind_application(binder, step);
	step->number = (uint32_t) number;
	if (context_is_text((unsigned int) number)) {
		step->operation |= ON_TEXTS;
		return push(binder, TYPE_TEXT);
	}
	return push(binder, TYPE_INTEGER);
}

static bool bind_change(struct binder *binder, struct step *step)
{
	enum type *top;

	if (!has(binder, 1))
		return false;
	top = &binder->types[binder->depth - 1];
	if (*top == TYPE_TEXT || (*top == TYPE_REAL && step->operation == OP_COMPLEMENT))
		return false;
	if (*top == TYPE_REAL)
		step->operation |= ON_REALS;
	if ((step->operation & 0x3F) != OP_MINUS)
		*top = TYPE_INTEGER;
	return true;
}

static bool bind_bits(struct binder *binder)
{
	if (!has(binder, 2) || binder->types[binder->depth - 1] != TYPE_INTEGER ||
	    binder->types[binder->depth - 2] != TYPE_INTEGER)
		return false;
	binder->depth--;
	return true;
}

static bool bind_comparison(struct binder *binder, struct step *step)
{
	enum type left;
	enum type right;

	if (!has(binder, 2))
		return false;
	left = binder->types[binder->depth - 2];
	right = binder->types[binder->depth - 1];
	if ((left == TYPE_TEXT) != (right == TYPE_TEXT))
		return false;
	if (left == TYPE_TEXT) {
		if (step->operation != OP_EQUAL && step->operation != OP_NOT_EQUAL)
			return false;
		step->operation |= ON_TEXTS;
	} else if (left == TYPE_REAL || right == TYPE_REAL) {
		step->operation |= ON_REALS;
		if (left == TYPE_INTEGER)
			step->flags |= LEFT_IS_INTEGER;
		if (right == TYPE_INTEGER)
			step->flags |= RIGHT_IS_INTEGER;
	}
	binder->depth--;
	binder->types[binder->depth - 1] = TYPE_INTEGER;
	return true;
}

static bool bind_match(struct binder *binder)
{
	if (!has(binder, 1) || binder->types[binder->depth - 1] != TYPE_TEXT)
		return false;
	binder->types[binder->depth - 1] = TYPE_INTEGER;
	return true;
}

static bool bind_skip(struct binder *binder, struct step *step, uint32_t place, uint32_t target)
{
	if (!has(binder, 1) || binder->types[binder->depth - 1] != TYPE_INTEGER ||
	    target <= place || target >= binder->count || binder->skip_count == MOST_SKIPS)
		return false;
	/* Inside of the one before. */
	if (binder->skip_count && target > binder->skips[binder->skip_count - 1].target)
		return false;
	binder->skips[binder->skip_count++] = (struct skip) {target, binder->depth};
	binder->depth--;
	step->index = target;
	return true;
}

/* At the target of a skip, both ways must have left the same. */
static bool end_skips(struct binder *binder, uint32_t place)
{
	while (binder->skip_count && binder->skips[binder->skip_count - 1].target == place) {
		if (binder->depth != binder->skips[binder->skip_count - 1].depth ||
		    binder->types[binder->depth - 1] != TYPE_INTEGER)
			return false;
		binder->skip_count--;
	}
	return true;
}

static bool bind(struct binder *binder, const struct instruction *from, struct step *step,
		 uint32_t place)
{
	step->operation = (uint8_t) from->operation;
	switch (from->operation) {
	case OP_RETURN:
		return place == binder->count - 1 && binder->depth == 1 &&
			binder->types[0] == TYPE_INTEGER;
	case OP_INTEGER:
		step->value.integer = from->value.integer;
		return push(binder, TYPE_INTEGER);
	case OP_REAL:
		step->value.real = from->value.real;
		return push(binder, TYPE_REAL);
	case OP_TEXT:
		return take_text(binder, from, step) && push(binder, TYPE_TEXT);
	case OP_FIELD:
		return take_text(binder, from, step) && bind_field(binder, step);
	case OP_ELEMENT:
		return take_text(binder, from, step) && bind_element(binder, step, from->index);
	case OP_CONTEXT:
		return take_text(binder, from, step) && bind_context(binder, step);
	case OP_MINUS:
	case OP_NOT:
	case OP_COMPLEMENT:
	case OP_TO_INTEGER:
		return bind_change(binder, step);
	case OP_SHIFT_LEFT:
	case OP_SHIFT_RIGHT:
	case OP_AND:
	case OP_XOR:
	case OP_OR:
		return bind_bits(binder);
	case OP_LESS:
	case OP_LESS_EQUAL:
	case OP_GREATER:
	case OP_GREATER_EQUAL:
	case OP_EQUAL:
	case OP_NOT_EQUAL:
		return bind_comparison(binder, step);
	case OP_MATCHES:
	case OP_MATCHES_NOT:
		return take_text(binder, from, step) && bind_match(binder);
	case OP_SKIP_IF_FALSE:
	case OP_SKIP_IF_TRUE:
		return bind_skip(binder, step, place, from->index);
	default:
		return false;
	}
}

static bool bind_all(struct binder *binder, const struct instruction *code, struct step *steps)
{
	for (uint32_t place = 0; place < binder->count; place++) {
		memset(&steps[place], 0, sizeof(steps[place]));
		if (!end_skips(binder, place) ||
		    !bind(binder, &code[place], &steps[place], place))
			return false;
	}
	return code[binder->count - 1].operation == OP_RETURN;
}

/* Find one that is the same. */
static const struct expression *find_known(const struct expression *wanted)
{
	for (const struct expression *one = all; one; one = one->known)
		if (one->next == wanted->next && one->count == wanted->count &&
		    !memcmp(one->steps, wanted->steps, one->count * sizeof(one->steps[0])))
			return one;
	return NULL;
}

/* Add an expression, if it can be true with what is taken for what. */
static const struct expression *add(const struct expression *others, struct binder *binder,
				    const struct instruction *code)
{
	const uint32_t count = binder->count;
	const size_t size =
		sizeof(struct expression) + count * (sizeof(struct step) + sizeof(struct test));
	const struct expression *known;
	struct test *tests;
	struct expression *made;

	made = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!made)
		return others;
	made->next = others;
	made->count = count;
	if (!bind_all(binder, code, made->steps)) {
		system_munmap(made, size);
		return others;
	}
	tests = (struct test *) (void *) (made->steps + count);
	made->tests = decision_make(tests, made->steps, count) ? tests : NULL;
	made->asks_program = binder->operand_count != 0;
	known = find_known(made);
	if (known) {
		system_munmap(made, size);
		return known;
	}
	made->known = all;
	all = made;
	return made;
}

/* Take something for what it was not yet; false when all have been everything. */
static bool take_next(struct binder *binder)
{
	for (uint32_t place = 0; place < binder->operand_count; place++) {
		struct operand *operand = &binder->operands[place];

		if (operand->type < TYPE_TEXT) {
			operand->type++;
			return true;
		}
		operand->type = TYPE_INTEGER;
	}
	return false;
}

static void find_operands(struct binder *binder, const struct instruction *code)
{
	for (uint32_t place = 0; place < binder->count; place++) {
		struct step step = {0};

		binder->depth = 0;
		if (code[place].operation == OP_CONTEXT &&
		    take_text(binder, &code[place], &step) &&
		    context_find(step.value.text, step.index) < 0)
			bind_application(binder, &step);
	}
}

const struct expression *expression_add(const struct expression *others,
					const struct vestige_event_class *event_class,
					const struct instruction *code, uint32_t count,
					const char *text, uint32_t text_size)
{
	struct binder binder = {
		.event_class = event_class,
		.text = text,
		.text_size = text_size,
		.count = count,
	};

	if (!count || count > MOST_INSTRUCTIONS)
		return others;
	find_operands(&binder, code);
	/* An event passes if any expression is true, and those that take a context for what it is
	 * not are false. */
	do {
		binder.depth = 0;
		binder.skip_count = 0;
		others = add(others, &binder, code);
	} while (take_next(&binder));
	return others;
}
