/* The event record classes of tracepoints: an arena has one list for all programs. */
#ifndef VESTIGE_ARENA_CLASSES_H
#define VESTIGE_ARENA_CLASSES_H

#include "../base/compiler.h"
#include "map.h"

/* Find a class by its text, all of its TSDL but the ID, or add it. Its place in the list, from
 * 0 on, is the same in all programs; negative when it finds no room. Who adds it says so by its
 * process ID. Signals are blocked. */
int classes_find(struct arena *arena, const char *text, size_t size, uint32_t process) HIDDEN;

#endif
