/* The file of an object in memory. */
#ifndef VESTIGE_OBJECTS_FILE_H
#define VESTIGE_OBJECTS_FILE_H

#include <elf.h>

#include "../base/compiler.h"
#include "object.h"

/* Open the file of an object and take its path, size and time; -1 if it is no ELF file. */
int object_open(struct object *object, const char *name, ElfW(Ehdr) *header) HIDDEN;
/* Take the debug link from the file: its section is not mapped. */
void object_find_debug_link(struct object *object, int file, const ElfW(Ehdr) *header) HIDDEN;
/* Give an object a path. */
bool object_set_path(struct object *object, const char *path) HIDDEN;
/* The path of the file that is mapped at an address. */
bool object_mapped_path(uint64_t address, char path[PATH_MAX]) HIDDEN;
/* Give back what describing it took. */
void object_forget(struct object *object) HIDDEN;

#endif
