/* Where programs meet session daemons: run directories with a socket, and a page to wait on.
 *
 * There are two, by numbers: that of the user, and that of root. */
#ifndef VESTIGE_HOOKS_MEETING_H
#define VESTIGE_HOOKS_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "../base/compiler.h"

#define MOST_MEETINGS 2u

/* Look for run directories, and for what to wait on: the page of a daemon that has been there, else
 * that of this user, on which all daemons call. False where this program must not register. */
bool meeting_find(void) HIDDEN;
/* Whether there may be a daemon of this number. */
bool meeting_is_possible(unsigned int which) HIDDEN;
/* A number that grows when the daemon begins, and waiting until it is another one. */
uint32_t meeting_number(unsigned int which) HIDDEN;
void meeting_wait(unsigned int which, uint32_t number) HIDDEN;
/* Let who waits so in this process look again; others may, too. */
void meeting_wake(unsigned int which) HIDDEN;
/* Connect to the daemon; negative where there is none, none accepts, or where it is somebody else's. */
int meeting_connect(unsigned int which) HIDDEN;
/* Note that the connection is closed. */
void meeting_end(unsigned int which) HIDDEN;
/* Whether there is a connection to any daemon. */
bool meeting_is_on(void) HIDDEN;
/* How long a program waits before it begins, in milliseconds; negative: for ever. */
long meeting_patience(void) HIDDEN;

#endif
