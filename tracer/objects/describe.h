/* Describing objects: where they are, and what their debug information is found by. */
#ifndef VESTIGE_OBJECTS_DESCRIBE_H
#define VESTIGE_OBJECTS_DESCRIBE_H

#include "../base/compiler.h"
#include "object.h"

/* Describe an object that dl_iterate_phdr() reports; false when there is nothing to tell. */
bool object_from_headers(struct object *object, const struct dl_phdr_info *info) HIDDEN;
/* Find the build ID of one in memory, if it has any. */
void object_find_build_id(struct object *object, const struct dl_phdr_info *info) HIDDEN;
/* Describe an object that the dynamic linker has just mapped. */
bool object_from_map(struct object *object, const struct link_map *map) HIDDEN;

#endif
