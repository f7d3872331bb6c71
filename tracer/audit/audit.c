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
#include "../base/system.h"

static const char tracer_name[] = "libvestige-tracer.so";
static const char function_name[] = "vestige_loader";

static const char lttng_name[] = "libvestige-lttng.so";
static const char beside_name[] = "libvestige-lttng-beside.so";

static loader_function *tell;
/* Of the library that stands in for those of LTTng-UST: next to the tracer. */
static char lttng_path[4096];
/* Whether LTTng-UST is to stay in the program. */
static int keeps_lttng;

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

/* Nothing where there is no room for it. */
static void set_lttng_path(const char *tracer)
{
	const size_t folder = (size_t) (file_name(tracer) - tracer);

	if (folder + sizeof(lttng_name) > sizeof(lttng_path))
		return;
	for (size_t index = 0; index < folder; index++)
		lttng_path[index] = tracer[index];
	for (size_t index = 0; index < sizeof(lttng_name); index++)
		lttng_path[folder + index] = lttng_name[index];
}

static int exists(const char *path)
{
	return system_call_always(SYS_faccessat, AT_FDCWD, (long) path, R_OK, 0, 0, 0) == 0;
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
	if (!tell)
		return;
	set_lttng_path(map->l_name);
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
	if (is_same(file_name(map->l_name), beside_name))
		keeps_lttng = 1;
	if (tell)
		tell(LOADER_MAPPED, map, name_space);
	else if (name_space == LM_ID_BASE && is_same(file_name(map->l_name), tracer_name))
		begin(map);
	return 0;
}

/*
 * Give programs that were compiled with LTTng-UST's headers our library in place of LTTng's.
 * It has both names, since the dynamic linker sees one file. What both share is given only
 * where it is not installed: LTTng's tools need their own.
 */
EXPORTED char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
	const char *file = file_name(name);
	int is_wanted = 0;

	(void) cookie;
	if (flag == LA_SER_ORIG)
		is_wanted = is_same(file, "liblttng-ust.so.1") ||
			is_same(file, "liblttng-ust-tracepoint.so.1");
	else if (flag == LA_SER_DEFAULT)
		is_wanted = is_same(file, "liblttng-ust-common.so.1") && !exists(name);
	if (is_wanted && tell && !keeps_lttng && lttng_path[0] && exists(lttng_path))
		return lttng_path;
	return (char *) (uintptr_t) name;
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
