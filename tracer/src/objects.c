/*
 * The base-address state dump: a record for each loaded object, as LTTng-UST writes them.
 *
 * See "Add state dump" events in lttng-ust(3): lttng_ust_statedump:start, procname, then
 * bin_info with build_id and debug_link for each object, and end.
 */
#define _GNU_SOURCE
#include "objects.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "stream.h"
#include "system.h"

#define MOST_SECTIONS 65536u
#define LARGEST_BUILD_ID 64u

struct object {
	uint64_t base;
	uint64_t size;
	const char *path;
	bool is_pic;
	const uint8_t *build_id;
	size_t build_id_size;
	bool has_debug_link;
	char debug_link[NAME_MAX + 1];
	uint32_t crc;
};

static const void *dump_ip(void)
{
	return __builtin_return_address(0);
}

static void record_plain(enum event_class class)
{
	struct record record;

	if (record_begin(&record, class, dump_ip(), 0))
		record_commit(&record);
}

static void record_procname(void)
{
	char name[17] = "";
	struct record record;

	system_thread_name(name);
	if (!record_begin(&record, EVENT_DUMP_PROCNAME, dump_ip(), sizeof(name)))
		return;
	write_bytes(&record, name, sizeof(name));
	record_commit(&record);
}

static void record_object(const struct object *object)
{
	const size_t path_size = strlen(object->path) + 1;
	struct record record;

	if (!record_begin(&record, EVENT_DUMP_BIN_INFO, dump_ip(), 16 + path_size + 3))
		return;
	write_u64(&record, object->base);
	write_u64(&record, object->size);
	write_bytes(&record, object->path, path_size);
	write_u8(&record, object->is_pic);
	write_u8(&record, object->build_id != NULL);
	write_u8(&record, object->has_debug_link);
	record_commit(&record);
}

static void record_build_id(const struct object *object)
{
	struct record record;

	if (!object->build_id ||
	    !record_begin(&record, EVENT_DUMP_BUILD_ID, dump_ip(), 16 + object->build_id_size))
		return;
	write_u64(&record, object->base);
	write_u64(&record, object->build_id_size);
	write_bytes(&record, object->build_id, object->build_id_size);
	record_commit(&record);
}

static void record_debug_link(const struct object *object)
{
	const size_t size = strlen(object->debug_link) + 1;
	struct record record;

	if (!object->has_debug_link ||
	    !record_begin(&record, EVENT_DUMP_DEBUG_LINK, dump_ip(), 12 + size))
		return;
	write_u64(&record, object->base);
	write_u32(&record, object->crc);
	write_bytes(&record, object->debug_link, size);
	record_commit(&record);
}

/* Find the build ID in the notes that are mapped with the object. */
static void find_build_id(const struct dl_phdr_info *info, struct object *object)
{
	for (int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];
		const char *at = (const char *) (info->dlpi_addr + header->p_vaddr);
		const char *end = at + header->p_memsz;

		if (header->p_type != PT_NOTE)
			continue;
		while ((size_t) (end - at) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const void *) at;
			const size_t name = (note->n_namesz + 3u) & ~3u;
			const size_t body = (note->n_descsz + 3u) & ~3u;

			at += sizeof(*note);
			if ((size_t) (end - at) < name || (size_t) (end - at) - name < body)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp(at, "GNU", 4) && note->n_descsz <= LARGEST_BUILD_ID) {
				object->build_id = (const uint8_t *) at + name;
				object->build_id_size = note->n_descsz;
				return;
			}
			at += name + body;
		}
	}
}

static bool read_at(int file, void *bytes, size_t size, uint64_t offset)
{
	return system_pread(file, bytes, size, offset) == (long) size;
}

static bool is_named(int file, const ElfW(Shdr) *names, const ElfW(Shdr) *section)
{
	static const char wanted[] = ".gnu_debuglink";
	char name[sizeof(wanted)];

	return section->sh_name < names->sh_size &&
		read_at(file, name, sizeof(name), names->sh_offset + section->sh_name) &&
		!memcmp(name, wanted, sizeof(wanted));
}

/* Take the debug link from the file: its section is not mapped. */
static void read_debug_link(int file, struct object *object)
{
	ElfW(Ehdr) header;
	ElfW(Shdr) names;
	ElfW(Shdr) section;
	char bytes[NAME_MAX + 9];

	if (!read_at(file, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_shentsize != sizeof(section) || header.e_shstrndx >= header.e_shnum ||
	    !read_at(file, &names, sizeof(names),
		     header.e_shoff + (uint64_t) header.e_shstrndx * sizeof(names)))
		return;
	for (unsigned int index = 0; index < header.e_shnum; index++) {
		size_t length;

		if (!read_at(file, &section, sizeof(section),
			     header.e_shoff + (uint64_t) index * sizeof(section)))
			return;
		if (!is_named(file, &names, &section))
			continue;
		if (section.sh_size < 8 || section.sh_size > sizeof(bytes) ||
		    !read_at(file, bytes, section.sh_size, section.sh_offset))
			return;
		length = strnlen(bytes, section.sh_size);
		if (length > NAME_MAX || ((length + 4) & ~(size_t) 3) + 4 > section.sh_size)
			return;
		memcpy(object->debug_link, bytes, length + 1);
		memcpy(&object->crc, bytes + ((length + 4) & ~(size_t) 3), 4);
		object->has_debug_link = true;
		return;
	}
}

static void find_debug_link(struct object *object)
{
	struct stat status = {0};
	/* A path may have become a pipe: opening that must not wait. */
	int file = system_open(object->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);

	if (file < 0)
		return;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode))
		read_debug_link(file, object);
	system_close(file);
}

static bool measure(const struct dl_phdr_info *info, struct object *object)
{
	uint64_t first = UINT64_MAX;
	uint64_t end = 0;

	for (int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];

		if (header->p_type != PT_LOAD)
			continue;
		if (header->p_vaddr < first)
			first = header->p_vaddr;
		if (header->p_vaddr + header->p_memsz > end)
			end = header->p_vaddr + header->p_memsz;
	}
	if (first >= end)
		return false;
	object->base = info->dlpi_addr + first;
	object->size = end - first;
	return true;
}

static int dump_object(struct dl_phdr_info *info, size_t size, void *count)
{
	struct object object = {0};
	char path[PATH_MAX];

	(void) size;
	if (!measure(info, &object))
		return 0;
	if ((*(int *) count)++ == 0) {
		/* The program comes first, and has no name here. */
		const long length =
			system_readlink("/proc/self/exe", path, sizeof(path) - 1);

		if (length <= 0)
			return 0;
		path[length] = '\0';
		object.path = path;
		object.is_pic = info->dlpi_addr != 0;
	} else {
		object.is_pic = true;
		if (object.base == getauxval(AT_SYSINFO_EHDR))
			object.path = "[vdso]";
		else if (!info->dlpi_name || !realpath(info->dlpi_name, path))
			return 0;
		else
			object.path = path;
	}
	find_build_id(info, &object);
	if (object.path[0] == '/')
		find_debug_link(&object);
	record_object(&object);
	record_build_id(&object);
	record_debug_link(&object);
	return 0;
}

void objects_dump(void)
{
	const int saved = errno;
	int count = 0;

	record_plain(EVENT_DUMP_START);
	record_procname();
	dl_iterate_phdr(dump_object, &count);
	record_plain(EVENT_DUMP_END);
	errno = saved;
}

void objects_start(void)
{
	/* The first record makes the stream, and the stream the dump. */
	stream_make_room(NULL, EXTENDED_HEADER_SIZE);
}
