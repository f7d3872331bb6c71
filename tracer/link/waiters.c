/*
 * Lists of what begins when a tracer comes, one in each object that links lttng-ust.
 *
 * Objects find each other's lists without symbols, which programs do not export: by a note in
 * their program headers. An object that may be unloaded is held while its list is gone through.
 * The thread that waits is in an object that never is unloaded: the program itself, or a library
 * that the program needs.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "waiters.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/tracepoint.h>

#define NOTE_NAME "Vestige"
#define NOTE_TYPE 1
#define MOST_OBJECTS 256

/* Of one object. Its layout is that of all versions. */
struct list {
	struct vestige_waiter *first;
	/* Whether there is a tracer: what comes now need not wait. */
	int32_t is_given;
	/* Whether the thread that waits is in this object. */
	int32_t has_thread;
};

LINKED struct list vestige_link_list;

/* Where the list is, from the place of the number on. */
__asm__(".pushsection .note.vestige,\"a\",%note\n"
	"	.balign 4\n"
	"	.long 8\n"
	"	.long 4\n"
	"	.long 1\n"
	"	.asciz \"" NOTE_NAME "\"\n"
	"	.long vestige_link_list - .\n"
	".popsection\n");

/* Notes are aligned to 4 bytes; those to 8, which some linkers put among them, are as long. */
static struct list *list_in_notes(const char *at, size_t size)
{
	const size_t mask = 3;

	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *) at;
		const size_t body = (sizeof(*note) + note->n_namesz + mask) & ~mask;
		const size_t whole = (body + note->n_descsz + mask) & ~mask;

		if (whole > size)
			break;
		if (note->n_type == NOTE_TYPE && note->n_namesz == sizeof(NOTE_NAME) &&
		    note->n_descsz == sizeof(int32_t) &&
		    !memcmp(note + 1, NOTE_NAME, sizeof(NOTE_NAME)))
			return (void *) (at + body +
					 *(const int32_t *) (const void *) (at + body));
		at += whole;
		size -= whole;
	}
	return NULL;
}

/* The list of an object, or NULL. */
static struct list *list_of(const struct dl_phdr_info *info)
{
	for (int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[index];
		struct list *found = NULL;

		if (part->p_type == PT_NOTE)
			found = list_in_notes((const char *) (info->dlpi_addr + part->p_vaddr),
					      part->p_memsz);
		if (found)
			return found;
	}
	return NULL;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether the program says that it needs a library of this name. */
static bool is_needed(const struct dl_phdr_info *program, const char *name)
{
	const ElfW(Dyn) *dynamic = NULL;
	const char *texts = NULL;

	for (int index = 0; index < program->dlpi_phnum; index++)
		if (program->dlpi_phdr[index].p_type == PT_DYNAMIC)
			dynamic = (const void *) (program->dlpi_addr +
						  program->dlpi_phdr[index].p_vaddr);
	for (const ElfW(Dyn) *one = dynamic; one && one->d_tag != DT_NULL; one++)
		/* The dynamic linker has made it an address, but in a few kinds of programs. */
		if (one->d_tag == DT_STRTAB && one->d_un.d_ptr >= program->dlpi_addr)
			texts = (const void *) one->d_un.d_ptr;
	for (const ElfW(Dyn) *one = dynamic; texts && one->d_tag != DT_NULL; one++)
		if (one->d_tag == DT_NEEDED && !strcmp(last_part(texts + one->d_un.d_val), name))
			return true;
	return false;
}

static int look_for_linker(struct dl_phdr_info *info, size_t size, void *data)
{
	bool *is_there = data;

	(void) size;
	for (int index = 0; index < info->dlpi_phnum; index++)
		*is_there |= info->dlpi_phdr[index].p_type == PT_INTERP;
	/* The program itself comes first. */
	return 1;
}

bool vestige_link_may_load(void)
{
	bool is_there = false;

	dl_iterate_phdr(look_for_linker, &is_there);
	return is_there;
}

struct search {
	/* The name of this object's file. */
	const char *name;
	int count;
	bool may_wait;
};

static int look_for_thread(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const struct list *list = list_of(info);

	(void) size;
	if (search->count++ == 0)
		/* The program itself comes first: it has the thread if it can. */
		search->may_wait =
			list ? list == &vestige_link_list : is_needed(info, search->name);
	if (list && list->has_thread)
		search->may_wait = false;
	return !search->may_wait;
}

bool vestige_link_may_wait(void)
{
	struct search search = {.name = ""};
	Dl_info own;

	if (dladdr(&vestige_link_list, &own) && own.dli_fname)
		search.name = last_part(own.dli_fname);
	dl_iterate_phdr(look_for_thread, &search);
	vestige_link_list.has_thread = search.may_wait;
	return search.may_wait;
}

/* Give all that is in a list to the tracer; whoever takes the list does. */
static void give(struct list *list, const struct vestige_tracer *tracer)
{
	struct vestige_waiter *next;

	for (struct vestige_waiter *one =
		     __atomic_exchange_n(&list->first, NULL, __ATOMIC_SEQ_CST);
	     one; one = next) {
		next = one->next;
		one->start(tracer);
	}
}

void vestige_wait_for_tracer(struct vestige_waiter *waiter)
{
	struct list *list = &vestige_link_list;

	waiter->next = __atomic_load_n(&list->first, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&list->first, &waiter->next, waiter, 0,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	if (__atomic_load_n(&list->is_given, __ATOMIC_SEQ_CST))
		give(list, vestige_find_tracer());
}

/* An object with a list, by the name that holds it. */
struct object {
	struct list *list;
	uintptr_t base;
	char *name;
};

struct objects {
	struct object all[MOST_OBJECTS];
	int count;
};

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *objects = data;
	struct object *made = &objects->all[objects->count];

	(void) size;
	made->list = list_of(info);
	made->base = info->dlpi_addr;
	if (made->list && (made->name = strdup(info->dlpi_name)))
		objects->count++;
	return objects->count == MOST_OBJECTS;
}

/* Hold an object that may be unloaded meanwhile; NULL if it is gone. */
static void *hold(const struct object *object)
{
	void *handle = dlopen(*object->name ? object->name : NULL, RTLD_LAZY | RTLD_NOLOAD);
	struct link_map *map;

	if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_addr == object->base)
		return handle;
	if (handle)
		dlclose(handle);
	return NULL;
}

void vestige_link_start_waiters(void)
{
	const struct vestige_tracer *tracer = vestige_find_tracer();
	struct objects *objects = tracer ? calloc(1, sizeof(*objects)) : NULL;

	if (!objects)
		return;
	dl_iterate_phdr(add_object, objects);
	for (int index = 0; index < objects->count; index++) {
		struct object *one = &objects->all[index];
		void *handle = hold(one);

		if (handle) {
			__atomic_store_n(&one->list->is_given, 1, __ATOMIC_SEQ_CST);
			give(one->list, tracer);
			dlclose(handle);
		}
		free(one->name);
	}
	free(objects);
}
