/* The events of a program, as a session daemon is told of them. */
#ifndef VESTIGE_HOOKS_EVENT_LIST_H
#define VESTIGE_HOOKS_EVENT_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "../base/compiler.h"

/* Messages, one after the other: MESSAGE_EVENT and MESSAGE_FIELD. */
struct event_list {
	char *bytes;
	size_t size;
	size_t used;
};

/* Make the list, with the fields of the events or without; false when there is no memory. */
bool event_list_make(struct event_list *list, bool with_fields) HIDDEN;
void event_list_free(struct event_list *list) HIDDEN;

#endif
