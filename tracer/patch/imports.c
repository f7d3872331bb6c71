/* Reading the dynamic section of objects in memory; see the ELF chapter of the gABI, and for the
 * table of hashes `elf/dl-lookup.c` of the documentation of DT_GNU_HASH. */
#define _GNU_SOURCE
#include "imports.h"

#include <elf.h>
#include <string.h>

/* The table of hashes: a head, a filter, the first symbol of each bucket, and the hashes. */
struct hash_head {
	uint32_t buckets;
	uint32_t first_symbol;
	uint32_t filter_words;
	uint32_t filter_shift;
};

/* Some dynamic linkers relocate what a dynamic section points to there, some do not. */
static const void *target(const struct linked *object, const ElfW(Dyn) *entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	return (const void *) (value < object->bias ? value + object->bias : value);
}

static void read_headers(struct linked *object, const struct dl_phdr_info *info,
			 const ElfW(Dyn) **dynamic)
{
	object->start = UINTPTR_MAX;
	for (unsigned int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];
		const uintptr_t start = info->dlpi_addr + header->p_vaddr;
		const uintptr_t end = start + header->p_memsz;

		if (header->p_type == PT_DYNAMIC)
			*dynamic = (const void *) start;
		if (header->p_type == PT_GNU_RELRO) {
			object->sealed_start = start;
			object->sealed_end = end;
		}
		if (header->p_type != PT_LOAD)
			continue;
		if ((header->p_flags & PF_X) && (header->p_flags & PF_R) &&
		    object->code_count < MOST_CODE)
			object->code[object->code_count++] = (struct code) {start, end};
		if (start < object->start)
			object->start = start;
		if (end > object->end)
			object->end = end;
	}
}

static void read_entry(struct linked *object, const ElfW(Dyn) *entry, size_t *other_bytes,
		       size_t *call_bytes, bool *is_rela)
{
	switch (entry->d_tag) {
	case DT_SYMTAB:
		object->symbols = target(object, entry);
		break;
	case DT_STRTAB:
		object->names = target(object, entry);
		break;
	case DT_GNU_HASH:
		object->hashes = target(object, entry);
		break;
	case DT_RELA:
		object->others = target(object, entry);
		break;
	case DT_RELASZ:
		*other_bytes = entry->d_un.d_val;
		break;
	case DT_JMPREL:
		object->calls = target(object, entry);
		break;
	case DT_PLTRELSZ:
		*call_bytes = entry->d_un.d_val;
		break;
	case DT_PLTREL:
		*is_rela = entry->d_un.d_val == DT_RELA;
		break;
	}
}

static bool read_dynamic(struct linked *object, const ElfW(Dyn) *entry)
{
	size_t other_bytes = 0;
	size_t call_bytes = 0;
	bool is_rela = true;

	for (; entry && entry->d_tag != DT_NULL; entry++)
		read_entry(object, entry, &other_bytes, &call_bytes, &is_rela);
	if (!object->symbols || !object->names)
		return false;
	if (object->others)
		object->others_count = other_bytes / sizeof(*object->others);
	if (object->calls && is_rela)
		object->calls_count = call_bytes / sizeof(*object->calls);
	return true;
}

bool linked_read(struct linked *object, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	memset(object, 0, sizeof(*object));
	object->name = info->dlpi_name ? info->dlpi_name : "";
	object->bias = info->dlpi_addr;
	read_headers(object, info, &dynamic);
	return read_dynamic(object, dynamic);
}

bool linked_read_map(struct linked *object, const struct link_map *map)
{
	memset(object, 0, sizeof(*object));
	object->name = map->l_name;
	object->bias = map->l_addr;
	return read_dynamic(object, map->l_ld);
}

const char *import_name(const struct linked *object, const ElfW(Rela) *relocation)
{
	const size_t symbol = ELF64_R_SYM(relocation->r_info);

	return symbol ? object->names + object->symbols[symbol].st_name : "";
}

static bool is_hook(const char *name)
{
	return strcmp(name, "__cyg_profile_func_enter") == 0 || strcmp(name, "__fentry__") == 0;
}

bool imports_hooks(const struct linked *object)
{
	for (size_t index = 0; index < object->calls_count; index++)
		if (is_hook(import_name(object, &object->calls[index])))
			return true;
	for (size_t index = 0; index < object->others_count; index++)
		if (ELF64_R_SYM(object->others[index].r_info) &&
		    is_hook(import_name(object, &object->others[index])))
			return true;
	return false;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (const unsigned char *at = (const unsigned char *) name; *at; at++)
		hash = hash * 33 + *at;
	return hash;
}

static bool is_wanted(const struct linked *object, const ElfW(Sym) *symbol, const char *name,
		      uintptr_t address)
{
	const unsigned int type = ELF64_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
		(type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
		(!address || type == STT_GNU_IFUNC ||
		 object->bias + symbol->st_value == address) &&
		strcmp(object->names + symbol->st_name, name) == 0;
}

const ElfW(Sym) *find_function(const struct linked *object, const char *name, uintptr_t address)
{
	const struct hash_head *head = (const void *) object->hashes;
	const uint32_t hash = hash_name(name);
	const uint64_t *filter;
	const uint32_t *buckets;
	const uint32_t *hashes;
	uint64_t word;
	uint32_t index;

	if (!head || !head->buckets || !head->filter_words)
		return NULL;
	filter = (const uint64_t *) (head + 1);
	buckets = (const uint32_t *) (filter + head->filter_words);
	hashes = buckets + head->buckets;
	word = filter[hash / 64 % head->filter_words];
	if (!(word >> hash % 64 & word >> (hash >> head->filter_shift) % 64 & 1))
		return NULL;
	index = buckets[hash % head->buckets];
	if (index < head->first_symbol)
		return NULL;
	for (;; index++) {
		const uint32_t one = hashes[index - head->first_symbol];

		if ((one | 1) == (hash | 1) &&
		    is_wanted(object, &object->symbols[index], name, address))
			return &object->symbols[index];
		if (one & 1)
			return NULL;
	}
}
