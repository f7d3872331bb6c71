/* The objects in the memory of the process, and the records that tell of them. */
#ifndef VESTIGE_OBJECTS_H
#define VESTIGE_OBJECTS_H

/* Learn what is loaded and record it, so that it comes before the first event. */
void objects_start(void) __attribute__((visibility("hidden")));
/* Record the state of the process: which object is loaded where. */
void objects_dump(void) __attribute__((visibility("hidden")));
/* Return when no state dump is under way: another thread may have begun it. */
void objects_wait(void) __attribute__((visibility("hidden")));

#endif
