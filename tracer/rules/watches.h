/*
 * Rules of triggers: a program tells at once of events that match them, see hooks/telling.h.
 *
 * Each session daemon has its own, and gives all of them each time. What is found for an event never
 * changes and stays as long as the process runs: threads may use it when the rules are others.
 */
#ifndef VESTIGE_RULES_WATCHES_H
#define VESTIGE_RULES_WATCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../agreement/registration.h"
#include "../base/compiler.h"
#include "captures.h"
#include "expression.h"

/* Daemons, by their numbers. */
#define WATCH_SOURCES 2u

/* A rule that takes an event. */
struct watch {
	uint64_t token;
	/* Of the daemon whose it is. */
	uint32_t source;
	uint32_t counter;
	/* Among those of the list. */
	uint32_t first_capture;
	uint32_t capture_count;
	/* NULL: none. */
	const struct expression *filter;
};

/* All that take an event, and then what is told. */
struct watch_list {
	uint32_t count;
	const struct capture *captures;
	struct watch watches[];
};

/* Have other rules, which are there until the next; false, and none, if they are damaged. */
bool watches_set(unsigned int source, const struct message_watch *message, const char *bytes,
		 size_t size) HIDDEN;
/* Whether there are any. */
bool watches_are_there(void) HIDDEN;
/* Whether all events have got theirs; after one has not, they have what they had. */
bool watches_have_room(void) HIDDEN;
/* Those for an event, which had others before; NULL: none. Called by one thread at a time. */
const struct watch_list *watches_choose(const struct watch_list *before,
					const struct vestige_provider *provider,
					const struct vestige_event *event) HIDDEN;

#endif
