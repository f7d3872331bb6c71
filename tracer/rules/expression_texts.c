/* Keeps each text of expressions once. */
#include "expression_texts.h"

#include <string.h>

#include "../base/hash.h"
#include "../base/system.h"

#define BUCKETS 256u
#define BLOCK_BYTES ((size_t) 64 << 10)

struct kept {
	struct kept *next;
	uint32_t length;
	char bytes[];
};

static struct kept *buckets[BUCKETS];

/* Memory that is never given back; NULL when there is none. */
static void *allocate(size_t size)
{
	static char *block;
	static size_t left;
	const size_t whole = (size + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
	char *made;

	if (whole > left) {
		const size_t wanted = whole > BLOCK_BYTES ? whole : BLOCK_BYTES;

		made = system_mmap(NULL, wanted, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!made)
			return NULL;
		block = made;
		left = wanted;
	}
	made = block;
	block += whole;
	left -= whole;
	return made;
}

const char *expression_text(const char *bytes, uint32_t length)
{
	struct kept **const bucket = &buckets[hash_bytes(bytes, length) % BUCKETS];
	struct kept *kept;

	for (kept = *bucket; kept; kept = kept->next)
		if (kept->length == length && !memcmp(kept->bytes, bytes, length))
			return kept->bytes;
	kept = allocate(sizeof(*kept) + length);
	if (!kept)
		return NULL;
	kept->length = length;
	memcpy(kept->bytes, bytes, length);
	kept->next = *bucket;
	*bucket = kept;
	return kept->bytes;
}
