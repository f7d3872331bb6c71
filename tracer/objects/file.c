/*
 * Describing an object: its file, the file's path and the debug link.
 *
 * See proc(5) for the files of a process.
 */
#define _GNU_SOURCE
#include "file.h"

#include <stdio.h>
#include <string.h>

#include "../base/maps.h"
#include "../base/system.h"

/* Most objects have some 40 sections. */
#define SECTIONS_AT_ONCE 64u
#define LARGEST_NAMES 65536u

/* The name of a file, and at the next multiple of four bytes its checksum. */
static void parse_debug_link(struct object *object, const char *bytes, size_t size)
{
	const size_t length = strnlen(bytes, size);
	const size_t place = (length + 4) & ~(size_t) 3;

	if (length > NAME_MAX || place + 4 > size)
		return;
	memcpy(object->debug_link, bytes, length + 1);
	memcpy(&object->crc, bytes + place, 4);
	object->has_debug_link = true;
}

/* Read the section from its place in the file. */
static void read_debug_link(struct object *object, int file, const ElfW(Shdr) *section)
{
	char bytes[NAME_MAX + 9];

	if (section->sh_size >= 8 && section->sh_size <= sizeof(bytes) &&
	    system_pread_all(file, bytes, section->sh_size, section->sh_offset))
		parse_debug_link(object, bytes, section->sh_size);
}

/* The names of all sections; of a linked object they take some hundred bytes. */
static size_t read_names(int file, const ElfW(Ehdr) *header, char names[LARGEST_NAMES])
{
	ElfW(Shdr) section;
	size_t size;

	if (header->e_shentsize != sizeof(section) || header->e_shstrndx >= header->e_shnum ||
	    !system_pread_all(file, &section, sizeof(section),
			      header->e_shoff + (uint64_t) header->e_shstrndx * sizeof(section)))
		return 0;
	size = section.sh_size < LARGEST_NAMES ? section.sh_size : LARGEST_NAMES;
	return system_pread_all(file, names, size, section.sh_offset) ? size : 0;
}

void object_find_debug_link(struct object *object, int file, const ElfW(Ehdr) *header)
{
	static const char wanted[] = ".gnu_debuglink";
	static ElfW(Shdr) sections[SECTIONS_AT_ONCE];
	static char names[LARGEST_NAMES];
	const size_t size = read_names(file, header, names);

	for (unsigned int first = 0; size && first < header->e_shnum; first += SECTIONS_AT_ONCE) {
		const unsigned int rest = header->e_shnum - first;
		const unsigned int count = rest < SECTIONS_AT_ONCE ? rest : SECTIONS_AT_ONCE;

		if (!system_pread_all(file, sections, count * sizeof(*sections),
				      header->e_shoff + (uint64_t) first * sizeof(*sections)))
			return;
		for (unsigned int index = 0; index < count; index++) {
			const size_t name = sections[index].sh_name;

			if (name < size && size - name >= sizeof(wanted) &&
			    !memcmp(names + name, wanted, sizeof(wanted))) {
				read_debug_link(object, file, &sections[index]);
				return;
			}
		}
	}
}

bool object_set_path(struct object *object, const char *path)
{
	const size_t size = strlen(path) + 1;

	object->path = object->short_path;
	if (size > SHORT_PATH) {
		if (size > PATH_MAX)
			return false;
		object->path = system_mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1);
		if (!object->path) {
			object->path = object->short_path;
			return false;
		}
	}
	memcpy(object->path, path, size);
	return true;
}

/* The path of an open file without links, as the kernel tells it. */
static bool real_path(int file, char path[PATH_MAX])
{
	char link[32];
	long length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = system_readlink(link, path, PATH_MAX - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return path[0] == '/';
}

/* Open the file of an object and tell what it has. */
int object_open(struct object *object, const char *name, ElfW(Ehdr) *header)
{
	static char path[PATH_MAX];
	struct stat status;
	/* A path may have become a pipe: opening that must not wait. */
	int file = system_open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return -1;
	if (!system_fstat(file, &status) || !S_ISREG(status.st_mode) ||
	    !system_pread_all(file, header, sizeof(*header), 0) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || !real_path(file, path) ||
	    !object_set_path(object, path)) {
		system_close(file);
		return -1;
	}
	object->has_file = true;
	object->file_size = status.st_size;
	object->modified = status.st_mtim.tv_sec;
	object->is_pic = header->e_type == ET_DYN;
	return file;
}

/* The path of the file that is mapped at an address. */
bool object_mapped_path(uint64_t address, char path[PATH_MAX])
{
	static struct maps maps;
	const int file = system_open(MAPS_FILE, O_RDONLY);
	struct mapping mapping;
	size_t size;

	if (file < 0 || !maps_find(&maps, file, address, &mapping))
		return false;
	size = strlen(mapping.path) + 1;
	if (size > PATH_MAX)
		return false;
	memcpy(path, mapping.path, size);
	return true;
}

void object_forget(struct object *object)
{
	if (object->path && object->path != object->short_path)
		system_munmap(object->path, PATH_MAX);
	object->path = NULL;
	object->has_file = false;
}
