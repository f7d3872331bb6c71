/* The rules of triggers that session daemons have, see telling.h. */
#ifndef VESTIGE_HOOKS_WATCHING_H
#define VESTIGE_HOOKS_WATCHING_H

#include "../agreement/registration.h"
#include "../base/compiler.h"

/* Have other rules of a daemon; with the first of a talk come a socket and the memory of counters,
 * else both are negative. */
enum joining_status watching_take(unsigned int which, const struct message_watch *message,
				  int file, int socket, int counters) HIDDEN;
/* A daemon has gone, and has no rules any more. */
void watching_end(unsigned int which) HIDDEN;

#endif
