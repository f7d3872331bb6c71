/* The event records that tell of objects. */
#ifndef VESTIGE_OBJECT_EVENTS_H
#define VESTIGE_OBJECT_EVENTS_H

#include "object.h"

/* The beginning and the end of a state dump, around the objects in memory. */
void object_events_start(void) __attribute__((visibility("hidden")));
void object_events_end(void) __attribute__((visibility("hidden")));
/* An object that was there before. */
void object_events_dump(const struct object *object) __attribute__((visibility("hidden")));
/* An object that came, and one that is gone. */
void object_events_load(const struct object *object) __attribute__((visibility("hidden")));
void object_events_unload(const struct object *object) __attribute__((visibility("hidden")));

#endif
