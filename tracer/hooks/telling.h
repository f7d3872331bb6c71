/*
 * Telling session daemons at once of events that match rules of their triggers.
 *
 * Each has a pipe for that, which nobody waits for: what finds no room there is counted, in memory
 * that the daemon reads. Where no rule matches, no system call is made.
 */
#ifndef VESTIGE_HOOKS_TELLING_H
#define VESTIGE_HOOKS_TELLING_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../rules/expression_run.h"
#include "../rules/watches.h"

/* Have the pipe of a daemon, and the memory of its counters; both may be closed then. The pipe can
 * be read, too: so none ends this process by a signal that nobody else reads any more. */
void telling_take(unsigned int source, int pipe, int counters) HIDDEN;
/* Whether a daemon ever had any. */
bool telling_is_begun(unsigned int source) HIDDEN;
/* Tell of nothing more: the process may make no such calls. */
void telling_stop(void) HIDDEN;
/* Tell of an event that a rule of a list matches. */
void telling_tell(const struct watch_list *list, const struct watch *watch,
		  const struct vestige_value *values, const void *ip) HIDDEN
	__attribute__((cold));

/* Tell of an event if rules match it. */
static INLINED void telling_try(const struct watch_list *list, const struct vestige_value *values,
				const void *ip)
{
	const struct watch *end = list->watches + list->count;

	for (const struct watch *watch = list->watches; watch < end; watch++)
		if (UNLIKELY(!watch->filter || expression_passes(watch->filter, values, ip)))
			telling_tell(list, watch, values, ip);
}

#endif
