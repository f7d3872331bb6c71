#include "pool.h"

#include <stdint.h>

#include "../base/system.h"

#define SMALLEST_PART ((size_t) 16 << 10)
#define ALIGNMENT ((size_t) 16)

struct pool_part {
	struct pool_part *next;
	size_t size;
	size_t used;
};

static size_t aligned(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

static struct pool_part *add_part(struct pool *pool, size_t size)
{
	const size_t whole = aligned(sizeof(struct pool_part)) + size;
	const size_t wanted = whole > SMALLEST_PART ? whole : SMALLEST_PART;
	struct pool_part *part = system_mmap(NULL, wanted, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!part)
		return NULL;
	part->next = pool->parts;
	part->size = wanted;
	part->used = aligned(sizeof(struct pool_part));
	pool->parts = part;
	return part;
}

void *pool_take(struct pool *pool, size_t count, size_t size)
{
	struct pool_part *part = pool->parts;
	size_t bytes;
	char *place;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
		return NULL;
	bytes = aligned(bytes);
	if (!part || part->size - part->used < bytes)
		part = add_part(pool, bytes);
	if (!part)
		return NULL;
	place = (char *) part + part->used;
	part->used += bytes;
	return place;
}

void pool_close(struct pool *pool)
{
	while (pool->parts) {
		struct pool_part *part = pool->parts;

		pool->parts = part->next;
		system_munmap(part, part->size);
	}
}
