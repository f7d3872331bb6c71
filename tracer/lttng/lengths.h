/*
 * Sequences that are longer than their lengths can tell, as 300 elements with a length of one
 * byte.
 *
 * Headers write what of the length has room in its type, and all elements, so that readers would
 * take the last ones for other fields. Here as many are recorded as the length tells, which is
 * told to the recorder once for each event.
 */
#ifndef VESTIGE_LTTNG_LENGTHS_H
#define VESTIGE_LTTNG_LENGTHS_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "recorded.h"
#include "unfinished.h"

/* An unfinished record of an event that may have such sequences. */
struct counted {
	struct unfinished record;
	struct ust_recorded *event;
	/* The field that is written next; if it is a sequence, whether its length was, and what
	 * that is. */
	uint32_t field;
	uint32_t has_length;
	uint32_t length;
	/* Bytes that were left out. */
	uint32_t cut;
};

_Static_assert(sizeof(struct counted) <= sizeof(struct ust_context),
	       "there is room for what has to be kept");

/* Whether an event may have them. Lengths of four bytes tell of more than a record can hold. */
bool lengths_may_be_short(const struct ust_recorded *event) HIDDEN;
/* How many bytes of what a probe writes next belong into the record. */
size_t lengths_allow(struct counted *record, const void *from, size_t size) HIDDEN;
/* Make the record as long as what it has, before it is appended. */
void lengths_end(struct ust_context *context) HIDDEN;

#endif
