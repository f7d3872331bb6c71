/* The event records that tell of objects. */
#ifndef VESTIGE_OBJECTS_EVENTS_H
#define VESTIGE_OBJECTS_EVENTS_H

#include "../base/compiler.h"
#include "object.h"

/* Let what this thread tells be told to some channels only, by their bits; 0: to all that record.
 * Returns what was chosen before. */
uint32_t object_events_choose(uint32_t channels) HIDDEN;
/* Count one that cannot be told. */
void object_events_count_lost(void) HIDDEN;
/* The beginning and the end of a state dump, around the objects in memory. */
void object_events_start(void) HIDDEN;
void object_events_end(void) HIDDEN;
/* An object that was there before. */
void object_events_dump(const struct object *object) HIDDEN;
/* An object that came, and one that is gone. */
void object_events_load(const struct object *object) HIDDEN;
void object_events_unload(const struct object *object) HIDDEN;

#endif
