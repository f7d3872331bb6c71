/*
 * Describing an object: where it is, and what its debug information is found by.
 *
 * Nothing here allocates by malloc(), which may be the program's own, or takes a lock: the
 * dynamic linker may be at work below us, for any thread.
 */
#define _GNU_SOURCE
#include "object.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool read_at(int file, void *bytes, size_t size, uint64_t offset)
{
	return pread(file, bytes, size, (off_t) offset) == (ssize_t) size;
}

static bool read_source(const struct source *source, void *bytes, size_t size, uint64_t place)
{
	if (source->file >= 0)
		return read_at(source->file, bytes, size, source->bias + place);
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

		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		name = (note.n_namesz + (size_t) 3) & ~(size_t) 3;
		body = (note.n_descsz + (size_t) 3) & ~(size_t) 3;
		if ((size_t) (end - at) < name || (size_t) (end - at) - name < body)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at, "GNU", 4) && note.n_descsz <= LARGEST_BUILD_ID) {
			memcpy(object->build_id, at + name, note.n_descsz);
			object->build_id_size = note.n_descsz;
			return true;
		}
		at += name + body;
	}
	return false;
}

static void find_build_id(struct object *object, const struct source *source,
			  const ElfW(Phdr) *headers, size_t count)
{
	char notes[LARGEST_NOTES];

	for (size_t index = 0; index < count; index++) {
		const ElfW(Phdr) *header = &headers[index];
		const size_t size =
			header->p_filesz < sizeof(notes) ? header->p_filesz : sizeof(notes);

		if (header->p_type == PT_NOTE &&
		    read_source(source, notes, size,
				source->is_memory ? header->p_vaddr : header->p_offset) &&
		    parse_notes(object, notes, notes + size))
			return;
	}
}

static bool measure(struct object *object, uint64_t bias, const ElfW(Phdr) *headers,
		    size_t count)
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

static bool is_debug_link(int file, const ElfW(Shdr) *names, const ElfW(Shdr) *section)
{
	static const char wanted[] = ".gnu_debuglink";
	char name[sizeof(wanted)];

	return section->sh_name < names->sh_size &&
		read_at(file, name, sizeof(name), names->sh_offset + section->sh_name) &&
		!memcmp(name, wanted, sizeof(wanted));
}

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

/* Take the debug link from the file: its section is not mapped. */
static void find_debug_link(struct object *object, int file, const ElfW(Ehdr) *header)
{
	ElfW(Shdr) names;
	ElfW(Shdr) section;
	char bytes[NAME_MAX + 9];

	if (header->e_shentsize != sizeof(section) || header->e_shstrndx >= header->e_shnum ||
	    !read_at(file, &names, sizeof(names),
		     header->e_shoff + (uint64_t) header->e_shstrndx * sizeof(names)))
		return;
	for (unsigned int index = 0; index < header->e_shnum; index++) {
		if (!read_at(file, &section, sizeof(section),
			     header->e_shoff + (uint64_t) index * sizeof(section)))
			return;
		if (!is_debug_link(file, &names, &section))
			continue;
		if (section.sh_size >= 8 && section.sh_size <= sizeof(bytes) &&
		    read_at(file, bytes, section.sh_size, section.sh_offset))
			parse_debug_link(object, bytes, section.sh_size);
		return;
	}
}

static bool set_path(struct object *object, const char *path)
{
	const size_t size = strlen(path) + 1;

	object->path = object->short_path;
	if (size > SHORT_PATH) {
		if (size > PATH_MAX)
			return false;
		object->path = mmap(NULL, PATH_MAX, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (object->path == MAP_FAILED) {
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
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, path, PATH_MAX - 1);
	if (length <= 0)
		return false;
	path[length] = '\0';
	return path[0] == '/';
}

/* Open the file of an object and tell what it has. */
static int open_file(struct object *object, const char *name, ElfW(Ehdr) *header)
{
	struct stat status;
	char path[PATH_MAX];
	/* A path may have become a pipe: opening that must not wait. */
	int file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return -1;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
	    !read_at(file, header, sizeof(*header), 0) ||
	    memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || !real_path(file, path) ||
	    !set_path(object, path)) {
		close(file);
		return -1;
	}
	object->has_file = true;
	object->file_size = status.st_size;
	object->modified = status.st_mtim.tv_sec;
	object->is_pic = header->e_type == ET_DYN;
	return file;
}

/* The path of the program; /proc/self/exe names the dynamic linker when that was started. */
static bool set_program(struct object *object)
{
	ElfW(Ehdr) header;
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int file;

	if (length <= 0)
		return false;
	path[length] = '\0';
	file = open_file(object, "/proc/self/exe", &header);
	if (file >= 0) {
		find_debug_link(object, file, &header);
		close(file);
	} else {
		/* It may be run, and not read. */
		object->is_pic = object->base >= 1u << 30;
	}
	return object->has_file || set_path(object, path);
}

/* The vDSO is no file: its name is in brackets, and it has no size to look into. */
static bool set_virtual(struct object *object, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "[%s]", name && *name ? name : "vdso");
	object->size = 0;
	return set_path(object, path);
}

static bool set_file(struct object *object, const char *name)
{
	ElfW(Ehdr) header;
	int file = open_file(object, name, &header);

	if (file < 0)
		return false;
	find_debug_link(object, file, &header);
	close(file);
	return true;
}

bool object_from_headers(struct object *object, const struct dl_phdr_info *info)
{
	const struct source memory = {.file = -1, .is_memory = true, .bias = info->dlpi_addr};
	const char *name = info->dlpi_name;

	if (!measure(object, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum))
		return false;
	if (object->base == getauxval(AT_SYSINFO_EHDR))
		return set_virtual(object, name);
	find_build_id(object, &memory, info->dlpi_phdr, info->dlpi_phnum);
	if (!name || !*name)
		return set_program(object);
	/* Without its file there is still its place and its build ID. */
	return set_file(object, name) || set_path(object, name);
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

bool object_from_map(struct object *object, const struct link_map *map)
{
	/* Through the file, since a read from there fails where nothing is mapped. The
	 * headers are there unless the first segment is linked at another address. */
	struct source source = {.file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC),
				.is_memory = true,
				.bias = map->l_addr};
	ElfW(Phdr) headers[MOST_HEADERS];
	ElfW(Ehdr) header;
	int file = open_file(object, map->l_name, &header);
	size_t count = source.file < 0 ? 0 : read_headers(&source, map, headers);
	bool is_known;

	if (!count && file >= 0) {
		if (source.file >= 0)
			close(source.file);
		source = (struct source) {.file = dup(file)};
		count = source.file < 0 ? 0 : read_headers(&source, map, headers);
	}
	is_known = count && measure(object, map->l_addr, headers, count);
	if (is_known)
		find_build_id(object, &source, headers, count);
	if (file >= 0)
		find_debug_link(object, file, &header);
	else if (is_known)
		/* Its file cannot be read, or is gone. */
		is_known = set_path(object, map->l_name);
	if (file >= 0)
		close(file);
	if (source.file >= 0)
		close(source.file);
	return is_known;
}

void object_forget(struct object *object)
{
	if (object->path && object->path != object->short_path)
		munmap(object->path, PATH_MAX);
	object->path = NULL;
}
