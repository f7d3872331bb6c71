/*
 * Describing an object: where it is, and what its debug information is found by.
 *
 * Nothing here allocates by malloc(), which may be the program's own, or takes a lock: the
 * dynamic linker may be at work below us, for any thread. One thread at a time is here, and
 * its stack may be a small one: what is large is static.
 */
#define _GNU_SOURCE
#include "describe.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "../base/system.h"
#include "file.h"

#define MOST_HEADERS 64u
#define LARGEST_NOTES 4096u

/* Where bytes of an object are read from. */
struct source {
	/* A file, or -1 for memory that is known to be mapped. */
	int file;
	/* Whether places are addresses in the process, and not in the file. */
	bool is_memory;
	uint64_t bias;
};

static bool read_source(const struct source *source, void *bytes, size_t size, uint64_t place)
{
	if (source->file >= 0)
		return system_pread_all(source->file, bytes, size, source->bias + place);
	memcpy(bytes, (const void *) (source->bias + place), size);
	return true;
}

/* Find the build ID among notes. */
static bool parse_notes(struct object *object, const char *at, const char *end)
{
	while ((size_t) (end - at) >= sizeof(ElfW(Nhdr))) {
		ElfW(Nhdr) note;
		size_t name;
		size_t body;
		size_t left;

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		name = (note.n_namesz + (size_t) 3) & ~(size_t) 3;
		body = (note.n_descsz + (size_t) 3) & ~(size_t) 3;
		left = (size_t) (end - at);
		/* The last note need not be padded. */
		if (left < name || left - name < note.n_descsz)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at, "GNU", 4) && note.n_descsz <= LARGEST_BUILD_ID) {
			memcpy(object->build_id, at + name, note.n_descsz);
			object->build_id_size = note.n_descsz;
			return true;
		}
		if (left - name < body)
			return false;
		at += name + body;
	}
	return false;
}

static bool is_mapped(const ElfW(Phdr) *part, const ElfW(Phdr) *headers, size_t count)
{
	for (size_t index = 0; index < count; index++)
		if (headers[index].p_type == PT_LOAD && headers[index].p_vaddr <= part->p_vaddr &&
		    part->p_vaddr - headers[index].p_vaddr < headers[index].p_filesz &&
		    part->p_filesz <=
			    headers[index].p_filesz - (part->p_vaddr - headers[index].p_vaddr))
			return true;
	return false;
}

static void find_build_id(struct object *object, const struct source *source,
			  const ElfW(Phdr) *headers, size_t count)
{
	static char notes[LARGEST_NOTES];

	for (size_t index = 0; index < count; index++) {
		const ElfW(Phdr) *header = &headers[index];
		const size_t size =
			header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes);

		if (header->p_type == PT_NOTE &&
		    (!source->is_memory || is_mapped(header, headers, count)) &&
		    read_source(source, notes, size,
				source->is_memory ? header->p_vaddr : header->p_offset) &&
		    parse_notes(object, notes, notes + size))
			return;
	}
}

static bool measure(struct object *object, uint64_t bias, const ElfW(Phdr) *headers, size_t count)
{
	uint64_t first = UINT64_MAX;
	uint64_t end = 0;

	for (size_t index = 0; index < count; index++) {
		const ElfW(Phdr) *header = &headers[index];

		if (header->p_type == PT_DYNAMIC)
			object->dynamic = bias + header->p_vaddr;
		if (header->p_type != PT_LOAD)
			continue;
		if (header->p_vaddr < first)
			first = header->p_vaddr;
		if (header->p_vaddr + header->p_memsz > end)
			end = header->p_vaddr + header->p_memsz;
	}
	if (first >= end)
		return false;
	object->base = bias + first;
	object->size = end - first;
	return true;
}

/* Whether a file has the headers that are in memory. */
static bool has_headers(int file, const ElfW(Ehdr) *header, const struct dl_phdr_info *info)
{
	ElfW(Phdr) one;

	for (unsigned int index = 0; index < info->dlpi_phnum; index++)
		if (header->e_phnum != info->dlpi_phnum ||
		    !system_pread_all(file, &one, sizeof(one),
				      header->e_phoff + index * sizeof(one)) ||
		    memcmp(&one, &info->dlpi_phdr[index], sizeof(one)) != 0)
			return false;
	return true;
}

/* The program has no name here. /proc/self/exe is its file, unless the dynamic linker was
 * started with the program as an argument. */
static bool set_program(struct object *object, const struct dl_phdr_info *info)
{
	static char path[PATH_MAX];
	ElfW(Ehdr) header;
	long length;
	int file = object_open(object, "/proc/self/exe", &header);

	if (file >= 0 && !has_headers(file, &header, info) &&
	    object_mapped_path(object->base & -(uint64_t) 4096, path)) {
		system_close(file);
		object_forget(object);
		file = object_open(object, path, &header);
	}
	if (file >= 0) {
		object_find_debug_link(object, file, &header);
		system_close(file);
		return true;
	}
	/* It may be run, and not read. */
	object->is_pic = info->dlpi_addr != 0;
	length = system_readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return object_set_path(object, path);
}

/* The vDSO is no file: its name is in brackets, and it has no size to look into. */
static bool set_virtual(struct object *object, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "[%s]", name && *name ? name : "vdso");
	object->size = 0;
	return object_set_path(object, path);
}

static bool set_file(struct object *object, const char *name)
{
	ElfW(Ehdr) header;
	int file = object_open(object, name, &header);

	if (file < 0)
		return false;
	object_find_debug_link(object, file, &header);
	system_close(file);
	return true;
}

void object_find_build_id(struct object *object, const struct dl_phdr_info *info)
{
	const struct source memory = {.file = -1, .is_memory = true, .bias = info->dlpi_addr};

	find_build_id(object, &memory, info->dlpi_phdr, info->dlpi_phnum);
}

bool object_from_headers(struct object *object, const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name;

	if (!measure(object, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum))
		return false;
	if (object->base == getauxval(AT_SYSINFO_EHDR))
		return set_virtual(object, name);
	object_find_build_id(object, info);
	if (!name || !*name)
		return set_program(object, info);
	/* Without its file there is still its place and its build ID. */
	return set_file(object, name) || object_set_path(object, name);
}

/* Read the program headers of an object, and see that they are those of the object. */
static size_t read_headers(const struct source *source, const struct link_map *map,
			   ElfW(Phdr) headers[MOST_HEADERS])
{
	ElfW(Ehdr) header;

	if (!read_source(source, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_phentsize != sizeof(*headers) || header.e_phnum > MOST_HEADERS ||
	    !read_source(source, headers, header.e_phnum * sizeof(*headers), header.e_phoff))
		return 0;
	for (size_t index = 0; index < header.e_phnum; index++)
		if (headers[index].p_type == PT_DYNAMIC &&
		    map->l_addr + headers[index].p_vaddr == (uintptr_t) map->l_ld)
			return header.e_phnum;
	return 0;
}

/* Take what there is to tell from one source. */
static bool take(struct object *object, const struct source *source, const struct link_map *map)
{
	static ElfW(Phdr) headers[MOST_HEADERS];
	const size_t count = read_headers(source, map, headers);

	if (!count || !measure(object, map->l_addr, headers, count))
		return false;
	find_build_id(object, source, headers, count);
	return true;
}

bool object_from_map(struct object *object, const struct link_map *map)
{
	/* Memory as a file: a read from there fails where nothing is mapped. The headers are
	 * there unless the first segment is linked at another address. Only one file is open
	 * at a time, as in the dynamic linker itself, which needed one. */
	struct source source = {.file = system_open("/proc/self/mem", O_RDONLY),
				.is_memory = true,
				.bias = map->l_addr};
	bool is_known = false;
	ElfW(Ehdr) header;

	if (source.file >= 0) {
		is_known = take(object, &source, map);
		system_close(source.file);
	}
	source = (struct source) {.file = object_open(object, map->l_name, &header)};
	if (source.file < 0)
		/* It cannot be read, or is gone. */
		return is_known && object_set_path(object, map->l_name);
	is_known = is_known || take(object, &source, map);
	object_find_debug_link(object, source.file, &header);
	system_close(source.file);
	return is_known;
}
