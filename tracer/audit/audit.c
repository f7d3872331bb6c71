/*
 * The auditing library: tells the tracer what the dynamic linker maps and unmaps.
 *
 * See rtld-audit(7). The dynamic linker loads it into a namespace of its own, so it must
 * not need a C library: that would be a second one in the process. It passes each call on
 * to a function of the tracer, which lies in the namespace of the program.
 *
 * No call through a procedure linkage table is audited: la_objopen() asks for none.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"
#include "../base/loader.h"

static const char tracer_name[] = "libvestige-tracer.so";
static const char function_name[] = "vestige_loader";

static loader_function *tell;

static int is_same(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

static const char *file_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

/* What a dynamic section points to: some dynamic linkers relocate it there, some do not. */
static const void *target(const struct link_map *map, const ElfW(Dyn) *entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	return (const void *) (value < map->l_addr ? value + map->l_addr : value);
}

/* The tracer has no more than a few symbols, and a table of the kind that counts them. */
static loader_function *find(const struct link_map *map)
{
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	const uint32_t *hashes = NULL;

	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			symbols = target(map, entry);
		else if (entry->d_tag == DT_STRTAB)
			names = target(map, entry);
		else if (entry->d_tag == DT_HASH)
			hashes = target(map, entry);
	}
	if (!symbols || !names || !hashes)
		return NULL;
	for (uint32_t index = 0; index < hashes[1]; index++)
		if (symbols[index].st_shndx != SHN_UNDEF &&
		    is_same(names + symbols[index].st_name, function_name))
			return (loader_function *) (map->l_addr + symbols[index].st_value);
	return NULL;
}

/* It must know that it will be told, before it begins. */
static void begin(const struct link_map *map)
{
	tell = find(map);
	if (tell)
		tell(LOADER_ACTS, map, 0);
}

EXPORTED unsigned int la_version(unsigned int version)
{
	/* What is used here has been the same in all versions. */
	return version;
}

EXPORTED unsigned int la_objopen(struct link_map *map, Lmid_t name_space, uintptr_t *cookie)
{
	(void) cookie;
	if (tell)
		tell(LOADER_MAPPED, map, name_space);
	else if (name_space == LM_ID_BASE && is_same(file_name(map->l_name), tracer_name))
		begin(map);
	return 0;
}

/* A cookie that was never changed is the address of the link map. */
EXPORTED unsigned int la_objclose(uintptr_t *cookie)
{
	if (tell)
		tell(LOADER_CLOSES, (const struct link_map *) *cookie, 0);
	return 0;
}

EXPORTED void la_activity(uintptr_t *cookie, unsigned int activity)
{
	if (tell)
		tell(activity == LA_ACT_DELETE ? LOADER_DELETES : LOADER_ACTS,
		     (const struct link_map *) *cookie, 0);
}
