/* What an object in memory imports, and which functions it has: its dynamic section. */
#ifndef VESTIGE_PATCH_IMPORTS_H
#define VESTIGE_PATCH_IMPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Segments of code of an object, of which most have one. */
#define MOST_CODE 4

struct code {
	uintptr_t start;
	uintptr_t end;
};

/* An object that the dynamic linker has mapped. */
struct linked {
	const char *name;
	uintptr_t bias;
	/* Its first byte, and the one after its last. */
	uintptr_t start;
	uintptr_t end;
	struct code code[MOST_CODE];
	size_t code_count;
	/* What becomes read-only after the relocations; both 0 without. */
	uintptr_t sealed_start;
	uintptr_t sealed_end;
	const ElfW(Sym) *symbols;
	const char *names;
	const uint32_t *hashes;
	/* Relocations of the procedure linkage table, and the others. */
	const ElfW(Rela) *calls;
	size_t calls_count;
	const ElfW(Rela) *others;
	size_t others_count;
};

/* Read the dynamic section of an object; false if it has none that could be of use. */
bool linked_read(struct linked *object, const struct dl_phdr_info *info) HIDDEN;
/* The same of one that the dynamic linker tells of, without its bounds. */
bool linked_read_map(struct linked *object, const struct link_map *map) HIDDEN;
/* The name that a relocation is about; empty if none. */
const char *import_name(const struct linked *object, const ElfW(Rela) *relocation) HIDDEN;
/* Whether an object has functions that record themselves when they are called. */
bool imports_hooks(const struct linked *object) HIDDEN;
/*
 * Find the symbol of a function by its name. Among those with one name, which have several
 * versions, the one at an address, or one whose code chooses the address (STT_GNU_IFUNC), or
 * with an address of 0 any. NULL if there is none.
 */
const ElfW(Sym) *find_function(const struct linked *object, const char *name,
			       uintptr_t address) HIDDEN;

#endif
