/*
 * How the tracer finds what stands in for vfork(), in itself or in a program.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_BASE_VFORK_H
#define VESTIGE_BASE_VFORK_H

#include <stdint.h>
#include <string.h>

/* In front of the function; and before that, how far from there its calls are. */
#define VESTIGE_VFORK_MARK "Vestige1"
#define VESTIGE_VFORK_MARK_SIZE 8
#define VESTIGE_VFORK_HEAD_SIZE 16

/* What is called before and after a child has the memory of the thread; NULL: nothing. */
struct vestige_vfork_calls {
	void (*leave)(void);
	void (*come_back)(void);
};

/* The calls of a function of that name; NULL: it is another one. */
static inline struct vestige_vfork_calls *vestige_vfork_calls_of(char *function)
{
	char *head = function - VESTIGE_VFORK_HEAD_SIZE;
	int64_t distance;

	if (memcmp(function - VESTIGE_VFORK_MARK_SIZE, VESTIGE_VFORK_MARK,
		   VESTIGE_VFORK_MARK_SIZE) != 0)
		return NULL;
	memcpy(&distance, head, sizeof(distance));
	return (struct vestige_vfork_calls *) (void *) (head + distance);
}

#endif
