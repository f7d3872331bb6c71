/* Memory for the bodies of records. */
#include "draft.h"

#include "../base/system.h"

#define LEAST_MAPPED 16384u

static struct draft *find_free(struct drafts *drafts, const void *owner)
{
	for (unsigned int index = 0; index < DRAFTS; index++) {
		struct draft *draft = &drafts->drafts[index];

		if (!draft->owner && draft_mark(draft, NULL, owner))
			return draft;
	}
	return NULL;
}

/* A handler's frame is below that which it interrupts, unless it has a stack of its own. */
static void free_abandoned(struct drafts *drafts, const void *owner)
{
	if (system_is_on_signal_stack())
		return;
	for (unsigned int index = 0; index < DRAFTS; index++) {
		struct draft *draft = &drafts->drafts[index];
		const void *before = draft->owner;

		if (before && (const char *) owner >= (const char *) before)
			draft_mark(draft, before, NULL);
	}
}

/* See to it that a draft has memory, of its own or of the thread's. */
static bool provide(struct drafts *drafts, struct draft *draft, size_t size)
{
	const size_t index = (size_t) (draft - drafts->drafts);
	const bool is_mapped = draft->size > DRAFT_BYTES;
	size_t wanted = LEAST_MAPPED;
	char *memory;

	if (draft->size >= size)
		return true;
	if (index < 2 && size <= DRAFT_BYTES) {
		draft->memory = drafts->memory[index];
		draft->size = DRAFT_BYTES;
		return true;
	}
	while (wanted < size)
		wanted *= 2;
	memory = system_mmap(NULL, wanted, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!memory)
		return false;
	if (is_mapped)
		system_munmap(draft->memory, draft->size);
	draft->memory = memory;
	draft->size = wanted;
	return true;
}

struct draft *draft_find(struct drafts *drafts, const void *owner, size_t size)
{
	struct draft *draft = size <= DRAFT_LONGEST ? find_free(drafts, owner) : NULL;

	if (!draft && size <= DRAFT_LONGEST) {
		free_abandoned(drafts, owner);
		draft = find_free(drafts, owner);
	}
	if (!draft)
		return NULL;
	if (provide(drafts, draft, size + DRAFT_SLACK))
		return draft;
	draft->owner = NULL;
	return NULL;
}

void drafts_clear(struct drafts *drafts)
{
	for (unsigned int index = 0; index < DRAFTS; index++)
		drafts->drafts[index].owner = NULL;
}
