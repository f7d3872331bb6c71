/* The objects in the memory of the process, as records tell them. */
#include "objects.h"

#include <stddef.h>

#include "../agreement/agreement.h"
#include "../stream/room.h"
#include "../stream/stream.h"
#include "events.h"
#include "loads.h"
#include "looks.h"
#include "table.h"

void objects_start(uint32_t channel, void (*on_drop)(uintptr_t start, uintptr_t end),
		   bool is_for_good)
{
	table_on_drop = on_drop;
	loads_start();
	objects_take_first_look(is_for_good);
	/* The first record makes the stream, and the stream the dump. */
	stream_make_room(channel, NULL, EXTENDED_HEADER_SIZE);
}

void objects_dump(uint32_t channel)
{
	struct guard guard;
	uint32_t others;

	table_enter(&guard);
	others = object_events_choose(1u << channel);
	object_events_start();
	for (const struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used)
			object_events_dump(&entry->object);
	object_events_end();
	object_events_choose(others);
	table_leave(&guard);
}

void objects_wait(void)
{
	struct guard guard;

	table_enter(&guard);
	table_leave(&guard);
}

bool objects_are_for_good(const void *address)
{
	/* Without the lock: these are shown once and never taken away. */
	for (const struct entry *entry = table_entries; entry; entry = entry->next)
		if (entry->is_used && entry->is_for_good &&
		    (uintptr_t) address - entry->object.base < entry->object.size)
			return true;
	return false;
}
