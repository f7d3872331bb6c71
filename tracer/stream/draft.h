/*
 * Drafts: memory for the bodies of records that are too long for the frame of who makes them.
 *
 * A thread has a few. Each belongs to the record that has marked it, until that one is
 * appended. A record that a handler jumped out of leaves its mark; when no draft is left, those
 * are used again whose records are gone, judged by the place of their frames.
 */
#ifndef VESTIGE_STREAM_DRAFT_H
#define VESTIGE_STREAM_DRAFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "local.h"

#define DRAFTS 16u
/* Of the memory that the first two have from the beginning. */
#define DRAFT_BYTES 3072u
/* Of the longest body. */
#define DRAFT_LONGEST (2u << 20)

struct draft {
	/* The record that has it: where that is on the stack. NULL: none. */
	const void *owner;
	char *memory;
	/* Of the memory. */
	size_t size;
	/* When the event happened; 0: when the record is appended. */
	uint64_t time;
	uint32_t class;
	uint32_t body_size;
	/* Of the stream for which the record was begun. */
	uint32_t stream_owner;
};

/* In memory of the thread that a child process has as it was. */
struct drafts {
	struct draft drafts[DRAFTS];
	char memory[2][DRAFT_BYTES];
};

/* What is read of a draft beyond its size, at most. */
#define DRAFT_SLACK 64u

/* Find a draft for a record; NULL when there is none. */
struct draft *draft_find(struct drafts *drafts, const void *owner, size_t size) HIDDEN;

static inline bool draft_mark(struct draft *draft, const void *before, const void *owner)
{
	return local_compare_exchange((volatile uint64_t *) (void *) &draft->owner,
				      (uintptr_t) before, (uintptr_t) owner);
}

/* The first is free, as a rule, and large enough. */
static inline struct draft *draft_take(struct drafts *drafts, const void *owner, size_t size)
{
	struct draft *first = &drafts->drafts[0];

	if (LIKELY(first->size >= size + DRAFT_SLACK && draft_mark(first, NULL, owner)))
		return first;
	return draft_find(drafts, owner, size);
}

/* Whether it is the record's still; it is nobody's then. */
static inline bool draft_give(struct draft *draft, const void *owner)
{
	return draft_mark(draft, owner, NULL);
}

/* None is anybody's. */
void drafts_clear(struct drafts *drafts) HIDDEN;

#endif
