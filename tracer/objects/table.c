/* The table of the objects in the memory of the process. */
#define _GNU_SOURCE
#include "table.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "../base/process.h"
#include "events.h"
#include "file.h"

#define ENTRIES_OF_BLOCK 32u

struct entry *table_entries;
void (*table_on_drop)(uintptr_t start, uintptr_t end);
static __thread bool has_guard __attribute__((tls_model("initial-exec")));

void table_enter(struct guard *guard)
{
	guard->error = errno;
	guard->is_nested = has_guard;
	if (guard->is_nested)
		return;
	guard->blocked = system_block_signals();
	has_guard = true;
	process_lock_objects();
}

void table_leave(const struct guard *guard)
{
	if (!guard->is_nested) {
		process_unlock_objects();
		has_guard = false;
		system_restore_signals(guard->blocked);
	}
	errno = guard->error;
}

static struct entry *more_entries(struct entry *last)
{
	struct entry *block =
		system_mmap(NULL, ENTRIES_OF_BLOCK * sizeof(*block), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!block)
		return NULL;
	for (unsigned int index = 1; index < ENTRIES_OF_BLOCK; index++)
		block[index - 1].next = &block[index];
	if (last)
		last->next = block;
	else
		table_entries = block;
	return block;
}

struct entry *table_find(uint64_t dynamic)
{
	for (struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used && entry->object.dynamic == dynamic)
			return entry;
	return NULL;
}

struct entry *table_new(void)
{
	struct entry *last = NULL;
	struct entry *entry = table_entries;

	while (entry && entry->is_used) {
		last = entry;
		entry = entry->next;
	}
	if (!entry)
		entry = more_entries(last);
	if (!entry) {
		object_events_count_lost();
		return NULL;
	}
	entry->closes = false;
	entry->is_for_good = false;
	memset(&entry->object, 0, sizeof(entry->object));
	return entry;
}

void table_show(struct entry *entry)
{
	atomic_store_explicit(&entry->is_used, true, memory_order_release);
}

void table_drop(struct entry *entry)
{
	object_events_unload(&entry->object);
	if (table_on_drop)
		table_on_drop(entry->object.base, entry->object.base + entry->object.size);
	atomic_store_explicit(&entry->is_used, false, memory_order_release);
	object_forget(&entry->object);
}
