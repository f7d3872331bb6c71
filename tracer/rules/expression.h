/*
 * Filter expressions: byte code from src/vestige/expressions, for a machine with a stack
 * of integers, reals and texts.
 *
 * There are no loops: skips only lead forward. When an event is connected, its fields are
 * found by their names, and places, types and depth are checked, once; what is left needs no
 * check but those that depend on values. An expression whose fields do not exist, or have
 * another type than it needs, is false: lttng-enable-event(1).
 */
#ifndef VESTIGE_RULES_EXPRESSION_H
#define VESTIGE_RULES_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "../agreement/agreement.h"
#include "../include/vestige/tracepoint-abi.h"

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
	/* A context that the program has registered. */
	OF_APPLICATION = 1 << 4,
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
	/* The same as tests, see decision.h; NULL where that cannot be. */
	const struct test *tests;
	/* Whether there are contexts of the program. */
	bool asks_program;
	struct step steps[];
};

#endif
