/* The thread that waits for a daemon, where none has been yet. */
#ifndef VESTIGE_LINK_WAITING_H
#define VESTIGE_LINK_WAITING_H

#include "linked.h"

/* Wait on a page that daemons know, and load the tracer when one says where it is; what is given
 * begins with it, in a thread of its own. */
void vestige_link_wait(void (*begin)(void)) LINKED;
/* Let the thread end, and wait for that: the program will forbid itself what it needs for it. */
void vestige_link_end_waiting(void) LINKED;

#endif
