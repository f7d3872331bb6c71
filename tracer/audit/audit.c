/*
 * The auditing library: tells the tracer what the dynamic linker maps and unmaps.
 *
 * See rtld-audit(7). The dynamic linker loads it into a namespace of its own, so it must
 * not need a C library: that would be a second one in the process. It passes each call on
 * to a function of the tracer, which lies in the namespace of the program.
 *
 * No call through a procedure linkage table is audited. A second form of the library, for
 * recordings of library calls, has VESTIGE_BINDINGS: it passes on what is bound, too.
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
#ifdef VESTIGE_BINDINGS
static const char binding_name[] = "vestige_binding";
#endif
static const char beside_name[] = "libvestige-lttng-beside.so";
/* Of a library of ours. */
#define LONGEST_NAME 32
/* Of which objects we are told what they bind. */
#ifdef VESTIGE_BINDINGS
#define BINDINGS (LA_FLG_BINDTO | LA_FLG_BINDFROM)
#else
#define BINDINGS 0
#endif

static loader_function *tell;
#ifdef VESTIGE_BINDINGS
static binding_function *ask;
#endif
/* Of a library of ours: next to the tracer, whose folder stays. */
static char our_path[4096];
static size_t folder_size;
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

/* Remember the folder of the tracer; nothing where there is no room for it. */
static void set_folder(const char *tracer)
{
	const size_t size = (size_t) (file_name(tracer) - tracer);

	if (size + LONGEST_NAME >= sizeof(our_path))
		return;
	for (size_t index = 0; index < size; index++)
		our_path[index] = tracer[index];
	folder_size = size;
}

/* Whether a file can be opened, by the calls that the dynamic linker makes itself: a program may
 * filter others. */
static int exists(const char *path)
{
	const long file = system_call_always(SYS_openat, AT_FDCWD, (long) path,
					     O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (file < 0)
		return 0;
	system_call_always(SYS_close, file, 0, 0, 0, 0, 0);
	return 1;
}

/* What a dynamic section points to: some dynamic linkers relocate it there, some do not. */
static const void *target(const struct link_map *map, const ElfW(Dyn) *entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	return (const void *) (value < map->l_addr ? value + map->l_addr : value);
}

/* The tracer has no more than a few symbols, and a table of the kind that counts them. */
static uintptr_t find(const struct link_map *map, const char *function)
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
		return 0;
	for (uint32_t index = 0; index < hashes[1]; index++)
		if (symbols[index].st_shndx != SHN_UNDEF &&
		    is_same(names + symbols[index].st_name, function))
			return map->l_addr + symbols[index].st_value;
	return 0;
}

/* It must know that it will be told, before it begins. */
static void begin(const struct link_map *map)
{
	tell = (loader_function *) find(map, function_name);
#ifdef VESTIGE_BINDINGS
	ask = (binding_function *) find(map, binding_name);
#endif
	if (!tell)
		return;
	set_folder(map->l_name);
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
	return BINDINGS;
}

#ifdef VESTIGE_BINDINGS
/* Called when a function is bound, not when it is called: see decision 126. */
EXPORTED uintptr_t la_symbind64(ElfW(Sym) *symbol, unsigned int index, uintptr_t *from,
				uintptr_t *to, unsigned int *flags, const char *name)
{
	const struct link_map *map = (const struct link_map *) *to;
	const ElfW(Sym) *symbols = NULL;
	/* What a program asks for by name may be data, or an address to compare. */
	const int is_asked_for = (*flags & LA_SYMB_DLSYM) != 0;

	*flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_SYMTAB)
			symbols = target(map, entry);
	if (!ask || !symbols || is_asked_for)
		return symbol->st_value;
	return ask((const struct link_map *) *from, map, symbols + index, symbol->st_value, name);
}
#endif

/* The path of a library of ours, or NULL where it is not there. */
static char *path_of(const char *name)
{
	if (!tell || !folder_size)
		return NULL;
	for (size_t index = 0; index < LONGEST_NAME; index++) {
		our_path[folder_size + index] = name[index];
		if (!name[index])
			break;
	}
	return exists(our_path) ? our_path : NULL;
}

static int begins_with(const char *text, const char *start)
{
	while (*start && *text == *start) {
		text++;
		start++;
	}
	return *start == '\0';
}

/* What a program gets in place of a library of LTTng-UST's; NULL for itself. */
static char *substitute(const char *name, unsigned int flag)
{
	const char *file = file_name(name);

	if (!begins_with(file, "liblttng-ust"))
		return NULL;
	/* Its malloc() needs memory of the thread that nobody has made when there is an auditor, and
	 * for which the dynamic linker calls malloc(). Ours has the same events. */
	if (flag == LA_SER_ORIG && begins_with(file, "liblttng-ust-libc-wrapper.so"))
		return path_of("libvestige-libc.so");
	if (keeps_lttng)
		return NULL;
	/* The dynamic linker sees one file, which gets both names. */
	if (flag == LA_SER_ORIG &&
	    (is_same(file, "liblttng-ust.so.1") || is_same(file, "liblttng-ust-tracepoint.so.1")))
		return path_of("libvestige-lttng.so");
	/* Only where it is not installed: LTTng's tools need their own. */
	if (flag == LA_SER_DEFAULT && is_same(file, "liblttng-ust-common.so.1") && !exists(name))
		return path_of("libvestige-lttng.so");
	return NULL;
}

EXPORTED char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
	char *found = substitute(name, flag);

	(void) cookie;
	return found ? found : (char *) (uintptr_t) name;
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
