/* Keeps lists of counters and contexts of programs. */
#include "context_list.h"

#include <string.h>

/* As many different ones as channels have had in this process. */
#define MOST_LISTS 64u

static struct context_list lists[MOST_LISTS];
/* The first has none. */
static unsigned int list_count = 1;

int context_list_find(const struct context_list *wanted)
{
	for (unsigned int number = 0; number < list_count; number++)
		if (!memcmp(&lists[number], wanted, sizeof(*wanted)))
			return (int) number;
	if (list_count == MOST_LISTS)
		return -1;
	lists[list_count] = *wanted;
	return (int) list_count++;
}

const struct context_list *context_list_get(unsigned int number)
{
	return &lists[number];
}
