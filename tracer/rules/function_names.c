/*
 * Reads the symbol table of an object: that of the linker (.symtab), which has static
 * functions, or where it is stripped that of the dynamic linker (.dynsym).
 *
 * Everything is read into memory of our own, none of it by the C library's allocator, and
 * given back when the patterns are compared.
 */
#define _GNU_SOURCE
#include "function_names.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "../base/system.h"
#include "cxx_names.h"

#define MOST_SEGMENTS 64u
#define LARGEST_NAME 4096u

/* A part of a file in memory. */
struct part {
	void *bytes;
	size_t size;
};

static void *map_memory(size_t size)
{
	return system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
}

static bool read_part(int file, uint64_t offset, uint64_t size, struct part *part)
{
	struct stat status;

	/* One byte more, zero, ends the last string. */
	if (!system_fstat(file, &status) || size == 0 || offset > (uint64_t) status.st_size ||
	    size > (uint64_t) status.st_size - offset)
		return false;
	part->size = (size_t) size;
	part->bytes = map_memory(part->size + 1);
	if (!part->bytes)
		return false;
	if (system_pread_all(file, part->bytes, part->size, offset))
		return true;
	system_munmap(part->bytes, part->size + 1);
	return false;
}

static void free_part(struct part *part)
{
	system_munmap(part->bytes, part->size + 1);
}

static bool read_segments(struct filtered *object, int file, const ElfW(Ehdr) *header,
			  uintptr_t place, uint64_t file_offset)
{
	/* The stack may be small. */
	static ElfW(Phdr) segments[MOST_SEGMENTS];
	uint64_t first = UINT64_MAX;
	uint64_t end = 0;
	bool is_found = false;

	if (header->e_phnum > MOST_SEGMENTS || header->e_phentsize != sizeof(segments[0]) ||
	    !system_pread_all(file, segments, header->e_phnum * sizeof(segments[0]),
			      header->e_phoff))
		return false;
	for (unsigned int index = 0; index < header->e_phnum; index++) {
		const ElfW(Phdr) *segment = &segments[index];

		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_vaddr < first)
			first = segment->p_vaddr;
		if (segment->p_vaddr + segment->p_memsz > end)
			end = segment->p_vaddr + segment->p_memsz;
		if (file_offset >= segment->p_offset &&
		    file_offset - segment->p_offset < segment->p_filesz) {
			object->bias = place - file_offset + segment->p_offset - segment->p_vaddr;
			is_found = true;
		}
	}
	if (!is_found || first >= end)
		return false;
	object->start = object->bias + first;
	object->end = object->bias + end;
	return true;
}

static bool applies(const struct filtered *object, unsigned int index)
{
	return object->applies[index / 64] >> index % 64 & 1;
}

/* Compare a name; what compilers and linkers append to it is left out. */
static unsigned int judge_text(const struct filtered *object, const char *name)
{
	unsigned int verdict = 0;

	for (unsigned int index = 0; index < patterns.count; index++) {
		const struct pattern *pattern = &patterns.all[index];

		if (pattern->name && applies(object, index) && glob_matches(pattern->name, name))
			verdict |= pattern_verdict(pattern);
	}
	return verdict;
}

static unsigned int judge_name(const struct filtered *object, const char *name)
{
	static char plain[LARGEST_NAME];
	static char readable[LARGEST_NAME];
	const size_t length = strcspn(name, ".@");
	unsigned int verdict = judge_text(object, name);

	if (!length || length >= sizeof(plain))
		return verdict;
	memcpy(plain, name, length);
	plain[length] = '\0';
	if (name[length])
		verdict |= judge_text(object, plain);
	if (cxx_name(plain, readable, sizeof(readable)))
		verdict |= judge_text(object, readable);
	return verdict;
}

static void sift(uint64_t *values, size_t root, size_t count)
{
	for (;;) {
		size_t child = 2 * root + 1;
		const uint64_t value = values[root];

		if (child >= count)
			return;
		if (child + 1 < count && values[child + 1] > values[child])
			child++;
		if (values[child] <= value)
			return;
		values[root] = values[child];
		values[child] = value;
		root = child;
	}
}

/* Heapsort, since qsort() may allocate. */
static void sort(uint64_t *values, size_t count)
{
	for (size_t root = count / 2; root-- > 0;)
		sift(values, root, count);
	for (size_t end = count; end-- > 1;) {
		const uint64_t largest = values[0];

		values[0] = values[end];
		values[end] = largest;
		sift(values, 0, end);
	}
}

static void judge_symbols(struct filtered *object, const struct part *symbols,
			  const struct part *names)
{
	const ElfW(Sym) *all = symbols->bytes;
	const size_t count = symbols->size / sizeof(*all);

	object->found_size = count * sizeof(*object->found);
	object->found = map_memory(object->found_size);
	if (!object->found)
		return;
	for (size_t index = 0; index < count; index++) {
		const ElfW(Sym) *symbol = &all[index];
		const unsigned int type = ELF64_ST_TYPE(symbol->st_info);
		unsigned int verdict;

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    symbol->st_shndx == SHN_UNDEF || symbol->st_name >= names->size)
			continue;
		verdict = judge_name(object, (const char *) names->bytes + symbol->st_name);
		if (verdict)
			object->found[object->count++] =
				(object->bias + symbol->st_value) << 2 | verdict;
	}
	sort(object->found, object->count);
}

static bool read_table(struct filtered *object, int file, const ElfW(Shdr) *sections,
		       unsigned int count, unsigned int type)
{
	for (unsigned int index = 0; index < count; index++) {
		const ElfW(Shdr) *table = &sections[index];
		struct part symbols;
		struct part names;

		if (table->sh_type != type || table->sh_link >= count ||
		    table->sh_entsize != sizeof(ElfW(Sym)) ||
		    !read_part(file, table->sh_offset, table->sh_size, &symbols))
			continue;
		if (read_part(file, sections[table->sh_link].sh_offset,
			      sections[table->sh_link].sh_size, &names)) {
			judge_symbols(object, &symbols, &names);
			free_part(&names);
		}
		free_part(&symbols);
		return true;
	}
	return false;
}

static void read_symbols(struct filtered *object, int file, const ElfW(Ehdr) *header)
{
	struct part sections;

	if (header->e_shentsize != sizeof(ElfW(Shdr)) ||
	    !read_part(file, header->e_shoff, (uint64_t) header->e_shnum * sizeof(ElfW(Shdr)),
		       &sections))
		return;
	if (!read_table(object, file, sections.bytes, header->e_shnum, SHT_SYMTAB))
		read_table(object, file, sections.bytes, header->e_shnum, SHT_DYNSYM);
	free_part(&sections);
}

bool names_read(struct filtered *object, int file, uintptr_t place, uint64_t file_offset)
{
	ElfW(Ehdr) header;

	if (!system_pread_all(file, &header, sizeof(header), 0) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    !read_segments(object, file, &header, place, file_offset))
		return false;
	read_symbols(object, file, &header);
	return true;
}

static unsigned int named_verdict(const struct filtered *object, uintptr_t function)
{
	size_t low = 0;
	size_t high = object->found ? object->count : 0;
	unsigned int verdict = 0;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (object->found[middle] >> 2 < function)
			low = middle + 1;
		else
			high = middle;
	}
	/* One function may have several names. */
	for (; object->found && low < object->count && object->found[low] >> 2 == function; low++)
		verdict |= object->found[low] & 3;
	return verdict;
}

unsigned int names_verdict(const struct filtered *object, uintptr_t function)
{
	const uint64_t address = function - object->bias;
	unsigned int verdict = named_verdict(object, function);

	for (unsigned int index = 0; index < patterns.count; index++) {
		const struct pattern *pattern = &patterns.all[index];

		if (!pattern->name && applies(object, index) && address >= pattern->start &&
		    address < pattern->end)
			verdict |= pattern_verdict(pattern);
	}
	return verdict;
}
