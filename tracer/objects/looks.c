/*
 * Learning which objects are there from the list that dl_iterate_phdr() reads: at the start,
 * and later where no auditing library can be used.
 */
#define _GNU_SOURCE
#include "looks.h"

#include <string.h>

#include "../base/compiler.h"
#include "../base/hash.h"
#include "../base/settings.h"
#include "describe.h"
#include "events.h"
#include "file.h"
#include "kept_pages.h"
#include "loads.h"
#include "table.h"

/* A look at the list of the dynamic linker. */
struct look {
	uint64_t number;
	/* Whether it is the first, before which nothing was known. */
	bool is_start;
	bool is_for_good;
};

static uint64_t looks;

static uint64_t dynamic_section(const struct dl_phdr_info *info)
{
	for (int index = 0; index < info->dlpi_phnum; index++)
		if (info->dlpi_phdr[index].p_type == PT_DYNAMIC)
			return info->dlpi_addr + info->dlpi_phdr[index].p_vaddr;
	return 0;
}

static uint64_t hash(const char *name)
{
	return hash_bytes(name, name ? strlen(name) : 0);
}

static struct entry *add_from_headers(const struct dl_phdr_info *info, const struct look *look)
{
	struct entry *entry = table_new();

	if (!entry)
		return NULL;
	if (!object_from_headers(&entry->object, info)) {
		object_forget(&entry->object);
		return NULL;
	}
	if (!look->is_start)
		object_events_load(&entry->object);
	entry->name = hash(info->dlpi_name);
	entry->is_for_good = look->is_for_good;
	table_show(entry);
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
	table_enter(&guard);
	if (!look->number)
		/* Looks come one after the other. */
		look->number = ++looks;
	entry = table_find(dynamic);
	if (entry && !look->is_start && entry->name != hash(info->dlpi_name)) {
		/* Another came to its place. */
		table_drop(entry);
		entry = NULL;
	}
	if (!entry && (dynamic || look->is_start))
		entry = add_from_headers(info, look);
	if (entry)
		entry->seen = look->number;
	table_leave(&guard);
	return 0;
}

void objects_take_first_look(bool is_for_good)
{
	struct look look = {.is_start = true, .is_for_good = is_for_good};

	dl_iterate_phdr(look_at, &look);
}

void objects_take_look(void)
{
	struct look look = {0};
	struct guard guard;

	dl_iterate_phdr(look_at, &look);
	table_enter(&guard);
	for (struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used && entry->seen < look.number &&
		    entry->object.name_space == LM_ID_BASE)
			table_drop(entry);
	table_leave(&guard);
}

static bool must_look(void)
{
	return looks && !objects_are_told() && settings.is_recording;
}

void objects_look(uintptr_t address)
{
	struct guard guard;
	bool is_known = false;

	if (!must_look())
		return;
	table_enter(&guard);
	for (struct entry *entry = table_entries; entry && !is_known; entry = entry->next)
		is_known = entry->is_used && address - entry->object.base < entry->object.size;
	table_leave(&guard);
	if (!is_known)
		objects_take_look();
}

EXPORTED void vestige_closed(void);

/* For the library that stands in for dlclose() where no auditing library can be used. */
void vestige_closed(void)
{
	kept_pages_put_back();
	if (must_look())
		objects_take_look();
}
