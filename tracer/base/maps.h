/* What is mapped in this process, as the kernel lists it; see proc_pid_maps(5). */
#ifndef VESTIGE_BASE_MAPS_H
#define VESTIGE_BASE_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "compiler.h"

#define MAPS_FILE "/proc/self/maps"

/* A line of /proc/self/maps. */
struct mapping {
	uintptr_t start;
	uintptr_t end;
	uint64_t offset;
	ino_t inode;
	const char *path;
};

/* Room for its lines, one after the other: too large for some stacks. */
struct maps {
	int file;
	uint64_t offset;
	size_t at;
	size_t end;
	char bytes[2 * PATH_MAX];
};

/* Find what file is mapped at an address in an open list, which is closed. The path lies in
 * `maps`. False where none is. */
bool maps_find(struct maps *maps, int file, uintptr_t address, struct mapping *mapping) HIDDEN;
/* The same, of whatever is mapped there. */
bool maps_find_any(struct maps *maps, int file, uintptr_t address,
		   struct mapping *mapping) HIDDEN;
/* The same, of what has a path or a name. */
bool maps_find_path(struct maps *maps, int file, const char *path,
		    struct mapping *mapping) HIDDEN;

#endif
