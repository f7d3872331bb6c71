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
	/* The last look at the linker's list that found it, and a hash of its name there. */
	uint64_t seen;
	uint64_t name;
	struct object object;
};

/* A look at the list of the dynamic linker. */
struct look {
	uint64_t number;
	/* Whether it is the first, before which nothing was known. */
	bool is_start;
};

/* While the table is used, nothing interrupts or ends the thread. */
struct guard {
	signals blocked;
	int error;
	bool is_nested;
};

static struct entry *entries;
static _Atomic bool is_watching;
/* Whether the auditing library is there, which tells of each object. */
static _Atomic bool is_told;
static uint64_t looks;
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
	is_told = true;
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

static uint64_t dynamic_section(const struct dl_phdr_info *info)
{
	for (int index = 0; index < info->dlpi_phnum; index++)
		if (info->dlpi_phdr[index].p_type == PT_DYNAMIC)
			return info->dlpi_addr + info->dlpi_phdr[index].p_vaddr;
	return 0;
}

/* FNV-1a. */
static uint64_t hash(const char *name)
{
	uint64_t value = 0xcbf29ce484222325u;

	for (; name && *name; name++)
		value = (value ^ (unsigned char) *name) * 0x100000001b3u;
	return value;
}

static struct entry *add_from_headers(const struct dl_phdr_info *info, bool is_start)
{
	struct entry *entry = new_entry();

	if (!entry)
		return NULL;
	if (!object_from_headers(&entry->object, info)) {
		object_forget(&entry->object);
		return NULL;
	}
	if (!is_start)
		object_events_load(&entry->object);
	entry->name = hash(info->dlpi_name);
	show(entry);
	return entry;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	struct look *look = data;
	const uint64_t dynamic = dynamic_section(info);
	struct entry *entry;
	struct guard guard;

	(void) size;
	/* Not around all of the look: the linker's lock comes first, since who has it may
	 * call a function that is recorded. */
	enter(&guard);
	if (!look->number) {
		/* The first is the program. Looks come one after the other. */
		look->number = ++looks;
		find_account(info);
	}
	entry = find(dynamic);
	if (entry && !look->is_start && entry->name != hash(info->dlpi_name)) {
		/* Another came to its place. */
		drop(entry);
		entry = NULL;
	}
	if (!entry && (dynamic || look->is_start))
		entry = add_from_headers(info, look->is_start);
	if (entry)
		entry->seen = look->number;
	leave(&guard);
	return 0;
}

/* Compare the table with the list of the dynamic linker. */
static void take_look(bool is_start)
{
	struct look look = {0, is_start};
	struct guard guard;

	dl_iterate_phdr(look_at, &look);
	enter(&guard);
	for (struct entry *entry = entries; entry && !is_start; entry = entry->next)
		if (entry->is_used && entry->seen < look.number &&
		    entry->object.name_space == LM_ID_BASE)
			drop(entry);
	leave(&guard);
}

bool objects_are_told(void)
{
	return is_told;
}

void objects_look(uintptr_t address)
{
	struct guard guard;
	bool is_known = false;

	if (is_told || !is_watching || !settings.is_recording)
		return;
	enter(&guard);
	for (struct entry *entry = entries; entry && !is_known; entry = entry->next)
		is_known = entry->is_used && address - entry->object.base < entry->object.size;
	leave(&guard);
	if (!is_known)
		take_look(false);
}

__attribute__((visibility("default"))) void vestige_closed(void);

/* For the library that stands in for dlclose() where no auditing library can be used. */
void vestige_closed(void)
{
	if (!is_told && is_watching && settings.is_recording)
		take_look(false);
}

void objects_start(void)
{
	is_watching = true;
	take_look(true);
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
