/* A record between two calls of a probe, in the place of an ust_context. */
#ifndef VESTIGE_LTTNG_UNFINISHED_H
#define VESTIGE_LTTNG_UNFINISHED_H

#include "../stream/draft.h"
#include "abi.h"

struct unfinished {
	struct draft *draft;
	/* Where the next field goes, and where the last one ends. */
	char *at;
	char *end;
};

static inline struct unfinished *in_place_of(struct ust_context *context)
{
	return (struct unfinished *) (void *) context;
}

#endif
