/* What becomes of the objects in the memory of the process, as the auditing library tells it. */
#define _GNU_SOURCE
#include "loads.h"

#include "../base/compiler.h"

#include "../base/loader.h"
#include "../base/settings.h"
#include "describe.h"
#include "events.h"
#include "file.h"
#include "kept_pages.h"
#include "table.h"

/* No namespace. */
#define NOWHERE (-1L)

static _Atomic bool is_watching;
/* Whether the auditing library is there, which tells of each object. */
static _Atomic bool is_told;
/* The dynamic linker's account of what is loaded, which is meant for debuggers. */
static const struct r_debug *account;
/* Where it said that it would unmap objects, and not yet that it has. */
static long deleting = NOWHERE;

/* Who wants to know. */
static void (*on_mapped)(const struct link_map *map, const struct object *object);
static void (*on_gone)(uintptr_t base);

/* Find the account in the dynamic section of the program. */
static int find_account(struct dl_phdr_info *info, size_t size, void *unused)
{
	const ElfW(Dyn) *entry = NULL;

	(void) size;
	(void) unused;
	for (int index = 0; index < info->dlpi_phnum; index++)
		if (info->dlpi_phdr[index].p_type == PT_DYNAMIC)
			entry = (const void *) (info->dlpi_addr + info->dlpi_phdr[index].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_DEBUG)
			account = (const struct r_debug *) entry->d_un.d_ptr;
	/* The program comes first; the others have none. */
	return 1;
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

static void drop(struct entry *entry)
{
	if (on_gone)
		on_gone((uintptr_t) entry->object.base);
	table_drop(entry);
}

/* Record what was unmapped since the last time. */
static void sweep(void)
{
	if (!account)
		return;
	for (struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used && entry->closes && !is_loaded(&entry->object))
			drop(entry);
}

/*
 * Some versions of the dynamic linker say nothing more of a namespace that becomes empty, so
 * this is the last moment to tell of it. At the end of the process they announce first that
 * they will delete, and then close; nothing is unmapped.
 */
static void sweep_emptied(long name_space)
{
	if (deleting == name_space || name_space == LM_ID_BASE)
		return;
	for (struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used && entry->closes && entry->closes_first &&
		    entry->object.name_space == name_space)
			drop(entry);
}

/* The new entry; NULL for what is known, or cannot be. */
static const struct entry *add(const struct link_map *map, long name_space)
{
	struct entry *known = table_find((uintptr_t) map->l_ld);
	struct entry *entry;

	if (known && known->closes)
		/* It went without a word, and another has its place. */
		drop(known);
	else if (known)
		return NULL;
	entry = table_new();
	if (!entry)
		return NULL;
	if (!object_from_map(&entry->object, map)) {
		object_forget(&entry->object);
		return NULL;
	}
	entry->object.name_space = name_space;
	/* In a child process the state dump comes before it, and does not have it. */
	object_events_load(&entry->object);
	table_show(entry);
	return entry;
}

static void close_object(const struct link_map *map)
{
	struct entry *entry = table_find((uintptr_t) map->l_ld);

	if (!entry)
		return;
	entry->closes = true;
	entry->closes_first = deleting != entry->object.name_space;
}

/* The namespace that has an object as its first. */
static long name_space_of(const struct link_map *first)
{
	const struct entry *entry = table_find((uintptr_t) first->l_ld);

	return entry ? entry->object.name_space : LM_ID_BASE;
}

EXPORTED loader_function vestige_loader;

void vestige_loader(enum loader_action action, const struct link_map *map, long name_space)
{
	const struct entry *added = NULL;
	struct guard guard;

	/* Before the tracer is relocated, too: nothing else may be touched. */
	is_told = true;
	if (!is_watching || !settings.is_recording)
		return;
	table_enter(&guard);
	sweep();
	switch (action) {
	case LOADER_MAPPED:
		added = add(map, name_space);
		break;
	case LOADER_CLOSES:
		close_object(map);
		break;
	case LOADER_DELETES:
		name_space = name_space_of(map);
		sweep_emptied(name_space);
		deleting = name_space;
		break;
	case LOADER_ACTS:
		deleting = NOWHERE;
		kept_pages_put_back();
		break;
	}
	table_leave(&guard);
	/* Entries stay where they are, and this one until the dynamic linker goes on. */
	if (added && on_mapped)
		on_mapped(map, &added->object);
}

bool objects_are_told(void)
{
	return is_told;
}

void loads_start(void)
{
	is_watching = true;
	dl_iterate_phdr(find_account, NULL);
}

void loads_watch(void (*mapped)(const struct link_map *map, const struct object *object),
		 void (*gone)(uintptr_t base))
{
	on_mapped = mapped;
	on_gone = gone;
}
