/* The objects in the memory of the process: the base-address state dump. */
#ifndef VESTIGE_OBJECTS_H
#define VESTIGE_OBJECTS_H

/* Record the state of the process: which object is loaded where. */
void objects_dump(void) __attribute__((visibility("hidden")));
/* Record it now, so that it comes before the first event. */
void objects_start(void) __attribute__((visibility("hidden")));

#endif
