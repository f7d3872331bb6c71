/* The objects in the memory of the process, and the records that tell of them. */
#ifndef VESTIGE_OBJECTS_OBJECTS_H
#define VESTIGE_OBJECTS_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Learn what is loaded and record it for a channel, so that it comes before the first event. The function is
 * called with the place of each object that is gone, before another may come there. What is loaded
 * stays loaded if the program begins at this moment. */
void objects_start(uint32_t channel, void (*on_drop)(uintptr_t start, uintptr_t end),
		   bool is_for_good) HIDDEN;
/* Record the state of the process for a channel: which object is loaded where. */
void objects_dump(uint32_t channel) HIDDEN;
/* Return when no state dump is under way: another thread may have begun it. */
void objects_wait(void) HIDDEN;
/* Whether an address is in an object that was there when the program began. */
bool objects_are_for_good(const void *address) HIDDEN;

#endif
