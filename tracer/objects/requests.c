/* What a helper asks about an object that the dynamic linker has loaded. */
#define _GNU_SOURCE
#include <string.h>

#include "../base/compiler.h"
#include "loads.h"
#include "looks.h"
#include "table.h"

EXPORTED object_function vestige_find_object;

int vestige_find_object(const struct link_map *map, struct object *object, char path[PATH_MAX])
{
	struct guard guard;
	struct entry *entry;

	if (!objects_are_told())
		objects_take_look();
	table_enter(&guard);
	entry = table_find((uintptr_t) map->l_ld);
	if (entry) {
		*object = entry->object;
		strncpy(path, entry->object.path, PATH_MAX - 1);
		path[PATH_MAX - 1] = '\0';
		object->path = path;
	}
	table_leave(&guard);
	return entry != NULL;
}
