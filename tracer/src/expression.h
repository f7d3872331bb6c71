/*
 * Filter expressions: byte code from src/vestige/expressions, for a machine with a stack
 * of integers, reals and texts.
 *
 * There are no loops: skips only lead forward. When an event is connected, its fields are
 * found by their names, and places, types and depth are checked, once; what is left needs no
 * check but those that depend on values. An expression whose fields do not exist, or have
 * another type than it needs, is false: lttng-enable-event(1).
 */
#ifndef VESTIGE_EXPRESSION_H
#define VESTIGE_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "../include/vestige/tracepoint-abi.h"

/* Values on the stack. */
#define EXPRESSION_DEPTH 24u
#define MOST_INSTRUCTIONS 2048u

enum operation {
	/* The end: the top is the answer. */
	OP_RETURN,
	/* Push a constant. */
	OP_INTEGER,
	OP_REAL,
	OP_TEXT,
	/* Push a field, an element of one, a context: by name. */
	OP_FIELD,
	OP_ELEMENT,
	OP_CONTEXT,
	/* Change the top. */
	OP_MINUS,
	OP_NOT,
	OP_COMPLEMENT,
	/* Replace the two at the top. Bits are those of 64-bit numbers. */
	OP_SHIFT_LEFT,
	OP_SHIFT_RIGHT,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_LESS,
	OP_LESS_EQUAL,
	OP_GREATER,
	OP_GREATER_EQUAL,
	OP_EQUAL,
	OP_NOT_EQUAL,
	/* Compare the top with a pattern, in which a zero stands for any text. */
	OP_MATCHES,
	OP_MATCHES_NOT,
	/* Make the top an integer. */
	OP_TO_INTEGER,
	/* Go on at an instruction if the top is zero, or if it is not, and leave 0 or 1;
	 * otherwise drop it. */
	OP_SKIP_IF_FALSE,
	OP_SKIP_IF_TRUE,
	OPERATIONS,
};

struct instruction {
	uint16_t operation;
	uint16_t reserved;
	/* Of an element, or of an instruction. */
	uint32_t index;
	union {
		int64_t integer;
		double real;
		/* In the text of the rule. */
		struct {
			uint32_t offset;
			uint32_t length;
		} text;
	} value;
};

/* Added to operations when types are known. */
enum operand_type {
	ON_REALS = 0x40,
	ON_TEXTS = 0x80,
	/* Of OP_FIELD: a text that may have no zero at its end. */
	ON_ARRAYS = 0xC0,
};

enum step_flags {
	/* A comparison of reals: which side is an integer. */
	LEFT_IS_INTEGER = 1 << 0,
	RIGHT_IS_INTEGER = 1 << 1,
	/* What the integers of an array are. */
	ELEMENT_IS_SIGNED = 1 << 2,
	ELEMENT_IS_SWAPPED = 1 << 3,
};

/* An instruction that was checked. */
struct step {
	uint8_t operation;
	uint8_t flags;
	/* Bytes of an element. */
	uint8_t size;
	uint8_t reserved;
	/* Of a field or a context. */
	uint32_t number;
	/* Of an element, of a step, or the length of a text. */
	uint64_t index;
	union {
		int64_t integer;
		double real;
		const char *text;
	} value;
};

/* One of several: an event passes if any is true. */
struct expression {
	const struct expression *next;
	/* All that there are. */
	struct expression *known;
	uint32_t count;
	struct step steps[];
};

#define EXPRESSION_HIDDEN __attribute__((visibility("hidden")))

/*
 * Check an expression for the events of a class and put it before others; returns the
 * others alone when it is never true. Nothing is ever freed: what was made for a plugin is
 * found again when the plugin is. Not for two threads at once.
 */
const struct expression *expression_add(const struct expression *others,
					const struct vestige_event_class *event_class,
					const struct instruction *code, uint32_t count,
					const char *text, uint32_t text_size) EXPRESSION_HIDDEN;

/* Whether any is true for these values, one for each field. */
bool expression_passes(const struct expression *expression, const struct vestige_value *values,
		       const void *ip) EXPRESSION_HIDDEN;

#endif
