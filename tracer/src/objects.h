/* The objects in the memory of the process, and the records that tell of them. */
#ifndef VESTIGE_OBJECTS_H
#define VESTIGE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* Learn what is loaded and record it, so that it comes before the first event. */
void objects_start(void) __attribute__((visibility("hidden")));
/* Record the state of the process: which object is loaded where. */
void objects_dump(void) __attribute__((visibility("hidden")));
/* Return when no state dump is under way: another thread may have begun it. */
void objects_wait(void) __attribute__((visibility("hidden")));

/* Whether an address is in an object that was there when the program began. */
bool objects_are_for_good(const void *address) __attribute__((visibility("hidden")));
/* Whether the dynamic linker tells what it loads. */
bool objects_are_told(void) __attribute__((visibility("hidden")));
/* Compare what is known with the list of the dynamic linker, at the start and later. */
void objects_take_look(bool is_start) __attribute__((visibility("hidden")));
/* Where it does not tell: learn which object an address is in, if none is known. */
void objects_look(uintptr_t address) __attribute__((visibility("hidden")));

#endif
