/*
 * Programs that will not be recorded, told by the processes that start them.
 *
 * What starts a program still has the arena mapped, wherever it is by now and whoever it has
 * become; a socket may be out of reach. The entries are a ring. A writer that is killed leaves
 * an entry with the wrong number, which the collector counts and does not read.
 */
#include "unreached.h"

#include <string.h>

void unreached_tell(const struct arena *arena, const struct unreached *program)
{
	struct arena_unreached *entry;
	uint32_t before;
	size_t length;

	if (!arena->base)
		return;
	before = atomic_fetch_add(&arena->shared->unreached_count, 1);
	entry = &arena->shared->unreached[before % ARENA_UNREACHED];
	/* The collector must not take the old number with what follows. */
	atomic_store(&entry->number, 0);
	entry->reason = program->reason;
	entry->process = program->process;
	entry->parent = program->parent;
	entry->pid_namespace = program->pid_namespace;
	length = strnlen(program->name, sizeof(entry->name));
	memcpy(entry->name, program->name, length);
	memset(entry->name + length, 0, sizeof(entry->name) - length);
	atomic_store_explicit(&entry->number, before + 1, memory_order_release);
}
