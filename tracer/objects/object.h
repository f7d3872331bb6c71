/* What there is to tell of an object in memory: a program, a library, the vDSO. */
#ifndef VESTIGE_OBJECTS_OBJECT_H
#define VESTIGE_OBJECTS_OBJECT_H

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARGEST_BUILD_ID 64u
#define SHORT_PATH 512

struct object {
	/* Where the dynamic section is: what the dynamic linker knows the object by. */
	uint64_t dynamic;
	/* Where the first segment is, and the bytes from there to the end of the last. */
	uint64_t base;
	uint64_t size;
	/* The file; zero if there is none. */
	int64_t file_size;
	int64_t modified;
	/* Which of the dynamic linker's namespaces it is in. */
	long name_space;
	bool has_file;
	bool is_pic;
	bool has_debug_link;
	uint32_t crc;
	size_t build_id_size;
	uint8_t build_id[LARGEST_BUILD_ID];
	char debug_link[NAME_MAX + 1];
	/* In `short_path`, or in a mapping of PATH_MAX bytes. */
	char *path;
	char short_path[SHORT_PATH];
};

/* vestige_find_object() of the tracer: copy what is known of an object; 0 when nothing is. */
typedef int object_function(const struct link_map *map, struct object *object,
			    char path[PATH_MAX]);

#endif
