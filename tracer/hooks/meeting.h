/* Where programs meet session daemons: a run directory with a socket, and a page to wait on. */
#ifndef VESTIGE_HOOKS_MEETING_H
#define VESTIGE_HOOKS_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

/* Look for a run directory where a daemon has been; else for the page of this user, on which
 * daemons call. False where this program must not register. */
bool meeting_find(void) HIDDEN;
/* A number that grows when a daemon begins, and waiting until it is another one. */
uint32_t meeting_number(void) HIDDEN;
void meeting_wait(uint32_t number) HIDDEN;
/* Connect to the daemon; negative where there is none, none accepts, or where it is somebody else's. */
int meeting_connect(void) HIDDEN;
/* How long a program waits before it begins, in milliseconds; negative: for ever. */
long meeting_patience(void) HIDDEN;

#endif
