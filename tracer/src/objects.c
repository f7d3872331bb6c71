/*
 * Which objects are in the memory of the process: a table of our own.
 *
 * It is filled when the tracer starts, and changed by what the auditing library tells. The
 * state dump of a forked child comes from the child's copy of the table: what the dynamic
 * linker knows may have been half changed by a thread that the child does not have, and the
 * lock of that thread is never released.
 *
 * Entries are shown by one store when they are complete, and taken away by one, so a copy
 * that fork() makes at any moment is good.
 */
#define _GNU_SOURCE
#include "objects.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "filter.h"
#include "loader.h"
#include "object.h"
#include "object_events.h"
#include "process.h"
#include "stream.h"
#include "system.h"

#define ENTRIES_OF_BLOCK 32u

struct entry {
	struct entry *next;
	_Atomic bool is_used;
	/* Its destructors have run. */
	bool closes;
	/* When they had, it was not yet said that anything would be unmapped. */
	bool closes_first;
	struct object object;
};

/* While the table is used, nothing interrupts or ends the thread. */
struct guard {
	signals blocked;
	int error;
	bool is_nested;
};

static struct entry *entries;
static _Atomic bool is_watching;
/* The dynamic linker's account of what is loaded, which is meant for debuggers. */
static const struct r_debug *account;
/* Whether it said that it would unmap objects, and not yet that it has. */
static bool is_deleting;
static __thread bool has_guard __attribute__((tls_model("initial-exec")));

static void enter(struct guard *guard)
{
	guard->error = errno;
	guard->is_nested = has_guard;
	if (guard->is_nested)
		return;
	guard->blocked = system_block_signals();
	has_guard = true;
	process_lock_objects();
}

static void leave(const struct guard *guard)
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
		entries = block;
	return block;
}

static struct entry *find(uint64_t dynamic)
{
	for (struct entry *entry = entries; entry; entry = entry->next)
		if (entry->is_used && entry->object.dynamic == dynamic)
			return entry;
	return NULL;
}

/* An entry that is not shown yet; NULL when memory is short. */
static struct entry *new_entry(void)
{
	struct entry *last = NULL;
	struct entry *entry = entries;

	while (entry && entry->is_used) {
		last = entry;
		entry = entry->next;
	}
	if (!entry)
		entry = more_entries(last);
	if (!entry) {
		process_count_lost();
		return NULL;
	}
	entry->closes = false;
	memset(&entry->object, 0, sizeof(entry->object));
	return entry;
}

static void show(struct entry *entry)
{
	atomic_store_explicit(&entry->is_used, true, memory_order_release);
}

static void drop(struct entry *entry)
{
	object_events_unload(&entry->object);
	filter_forget(entry->object.base, entry->object.base + entry->object.size);
	atomic_store_explicit(&entry->is_used, false, memory_order_release);
	object_forget(&entry->object);
}

/* The next of the accounts, one for each namespace: in version 2 of the structure. */
static const struct r_debug *next_account(const struct r_debug *present)
{
	struct extended {
		struct r_debug base;
		const struct r_debug *next;
	};

	return present->r_version < 2 ? NULL : ((const struct extended *) present)->next;
}

static bool is_loaded(const struct object *object)
{
	for (const struct r_debug *one = account; one; one = next_account(one))
		for (const struct link_map *map = one->r_map; map; map = map->l_next)
			if ((uintptr_t) map->l_ld == object->dynamic)
				return true;
	return false;
}

/* Record what was unmapped since the last time. */
static void sweep(void)
{
	if (!account)
		return;
	for (struct entry *entry = entries; entry; entry = entry->next)
		if (entry->is_used && entry->closes && !is_loaded(&entry->object))
			drop(entry);
}

/*
 * Some versions of the dynamic linker say nothing more of a namespace that becomes empty, so
 * this is the last moment to tell of it. At the end of the process they announce first that
 * they will delete, and then close; nothing is unmapped.
 */
static void sweep_emptied(void)
{
	if (is_deleting)
		return;
	for (struct entry *entry = entries; entry; entry = entry->next)
		if (entry->is_used && entry->closes && entry->closes_first &&
		    entry->object.name_space != LM_ID_BASE)
			drop(entry);
}

static void add(const struct link_map *map, long name_space)
{
	struct entry *entry = new_entry();

	if (!entry)
		return;
	if (!object_from_map(&entry->object, map) || find(entry->object.dynamic)) {
		object_forget(&entry->object);
		return;
	}
	entry->object.name_space = name_space;
	/* In a child process the state dump comes before it, and does not have it. */
	object_events_load(&entry->object);
	show(entry);
}

static void close_object(const struct link_map *map)
{
	struct entry *entry = find((uintptr_t) map->l_ld);

	if (!entry)
		return;
	entry->closes = true;
	entry->closes_first = !is_deleting;
}

__attribute__((visibility("default"))) loader_function vestige_loader;

void vestige_loader(enum loader_action action, const struct link_map *map, long name_space)
{
	struct guard guard;

	/* Before the tracer is relocated, too: nothing else may be touched. */
	if (!is_watching || !settings.is_recording)
		return;
	enter(&guard);
	sweep();
	switch (action) {
	case LOADER_MAPPED:
		add(map, name_space);
		break;
	case LOADER_CLOSES:
		close_object(map);
		break;
	case LOADER_DELETES:
		sweep_emptied();
		is_deleting = true;
		break;
	case LOADER_ACTS:
		is_deleting = false;
		break;
	}
	leave(&guard);
}

/* Find the account in the dynamic section of the program. */
static void find_account(const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *entry = NULL;

	for (int index = 0; index < info->dlpi_phnum; index++)
		if (info->dlpi_phdr[index].p_type == PT_DYNAMIC)
			entry = (const void *) (info->dlpi_addr +
						info->dlpi_phdr[index].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG)
			account = (const struct r_debug *) entry->d_un.d_ptr;
}

static int add_from_headers(struct dl_phdr_info *info, size_t size, void *is_first)
{
	struct entry *entry = new_entry();

	(void) size;
	if (*(bool *) is_first)
		/* The program. */
		find_account(info);
	*(bool *) is_first = false;
	if (entry && object_from_headers(&entry->object, info) &&
	    !find(entry->object.dynamic))
		show(entry);
	else if (entry)
		object_forget(&entry->object);
	return 0;
}

void objects_start(void)
{
	struct guard guard;
	bool is_first = true;

	enter(&guard);
	is_watching = true;
	dl_iterate_phdr(add_from_headers, &is_first);
	leave(&guard);
	/* The first record makes the stream, and the stream the dump. */
	stream_make_room(NULL, EXTENDED_HEADER_SIZE);
}

void objects_dump(void)
{
	struct guard guard;

	enter(&guard);
	object_events_start();
	for (const struct entry *entry = entries; entry; entry = entry->next)
		if (entry->is_used)
			object_events_dump(&entry->object);
	object_events_end();
	leave(&guard);
}

void objects_wait(void)
{
	struct guard guard;

	enter(&guard);
	leave(&guard);
}
