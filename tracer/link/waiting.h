/* The thread that waits for a daemon, where none has been yet. */
#ifndef VESTIGE_LINK_WAITING_H
#define VESTIGE_LINK_WAITING_H

/* Wait on a page that daemons know, and load the tracer when one says where it is; what is given
 * begins with it, in a thread of its own. */
void vestige_link_wait(void (*begin)(void)) __attribute__((visibility("hidden")));

#endif
