/* Memory that is taken in pieces and given back as a whole: no allocator is involved. */
#ifndef VESTIGE_LTTNG_POOL_H
#define VESTIGE_LTTNG_POOL_H

#include <stddef.h>

#include "../base/compiler.h"

struct pool_part;

struct pool {
	struct pool_part *parts;
};

/* Zeros, aligned for anything; NULL when there are none. */
void *pool_take(struct pool *pool, size_t count, size_t size) HIDDEN;
void pool_close(struct pool *pool) HIDDEN;

#endif
