/*
 * Pages of an object that is unloaded while a thread is in its code: a field calls dlclose(), a
 * handler that has interrupted a probe does, or a probe has been waiting for too long.
 *
 * No destructor can stop the dynamic linker. So the pages are copied before, and put back where
 * they were when they have been unmapped; the thread goes on there. They stay for good.
 */
#define _GNU_SOURCE
#include "kept_pages.h"

#include "../base/system.h"
#include "table.h"

#define MOST_SEGMENTS 16u
#define MOST_OBJECTS 8u

struct segment {
	char *start;
	size_t size;
	int protection;
	char *copy;
};

static struct segment kept[MOST_OBJECTS * MOST_SEGMENTS];
static unsigned int kept_count;

struct wanted {
	uintptr_t address;
	uintptr_t page;
};

static bool has_address(const struct dl_phdr_info *info, uintptr_t address)
{
	for (int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];

		if (header->p_type == PT_LOAD &&
		    address - (info->dlpi_addr + header->p_vaddr) < header->p_memsz)
			return true;
	}
	return false;
}

/* Without a function of the C library: a sanitizer has parts of the object that nobody may
 * read. */
static void copy_words(char *to, const char *from, size_t size)
{
	for (size_t offset = 0; offset < size; offset += sizeof(uint64_t))
		*(volatile uint64_t *) (void *) (to + offset) =
			*(const volatile uint64_t *) (const void *) (from + offset);
}

static void copy_segment(const struct dl_phdr_info *info, const ElfW(Phdr) *header,
			 uintptr_t page)
{
	const uintptr_t start = (info->dlpi_addr + header->p_vaddr) & ~(page - 1);
	const uintptr_t end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
	struct segment *segment = &kept[kept_count];

	if (kept_count == sizeof(kept) / sizeof(kept[0]) || !(header->p_flags & PF_R))
		return;
	segment->start = (char *) start;
	segment->size = (end - start + page - 1) & ~(page - 1);
	segment->protection = PROT_READ | (header->p_flags & PF_W ? PROT_WRITE : 0) |
		(header->p_flags & PF_X ? PROT_EXEC : 0);
	segment->copy = system_mmap(NULL, segment->size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!segment->copy)
		return;
	copy_words(segment->copy, segment->start, segment->size);
	kept_count++;
}

static int copy_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct wanted *wanted = data;

	(void) size;
	if (!has_address(info, wanted->address))
		return 0;
	for (int index = 0; index < info->dlpi_phnum; index++)
		if (info->dlpi_phdr[index].p_type == PT_LOAD)
			copy_segment(info, &info->dlpi_phdr[index], wanted->page);
	return 1;
}

void kept_pages_copy(const void *address)
{
	struct wanted wanted = {(uintptr_t) address, (uintptr_t) sysconf(_SC_PAGESIZE)};

	/* The dynamic linker's lock is ours. */
	dl_iterate_phdr(copy_object, &wanted);
}

/* Whether it is where it was. */
static bool put_back(const struct segment *segment)
{
	char *place = system_mmap(segment->start, segment->size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);

	/* Still mapped; or, where the kernel takes the address for a wish, somewhere else. */
	if (place && place != segment->start)
		system_munmap(place, segment->size);
	if (!place || place != segment->start)
		return false;
	copy_words(place, segment->copy, segment->size);
	system_mprotect(place, segment->size, segment->protection);
	system_munmap(segment->copy, segment->size);
	return true;
}

void kept_pages_put_back(void)
{
	struct guard guard;
	unsigned int left = 0;

	if (!__atomic_load_n(&kept_count, __ATOMIC_RELAXED))
		return;
	table_enter(&guard);
	for (unsigned int index = 0; index < kept_count; index++)
		if (!put_back(&kept[index]))
			kept[left++] = kept[index];
	kept_count = left;
	table_leave(&guard);
}
