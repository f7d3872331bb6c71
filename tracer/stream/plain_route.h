/*
 * Routes that are plain: each channel has the rings of CPUs and the same contexts, and takes all that the event
 * records. Few steps lead along them.
 */
#ifndef VESTIGE_STREAM_PLAIN_ROUTE_H
#define VESTIGE_STREAM_PLAIN_ROUTE_H

#include "cpu_short_section.h"
#include "routed.h"

/* Whether a route is. */
static inline bool plain_route_is(const struct address *to, uint32_t count)
{
	for (uint32_t index = 0; index < count; index++)
		if (!to[index].is_usual || !to[index].is_of_cpus || to[index].filter ||
		    !settings_are_same(to[index].contexts, to[0].contexts))
			return false;
	return true;
}

static INLINED bool plain_route_has_streams(const struct route *route)
{
	for (uint32_t index = 0; index < route->count; index++)
		if (UNLIKELY(!has_stream(&route->to[index])))
			return false;
	return true;
}

/* Begin a short record with the contexts that most have; NULL when that does not go, and nothing has happened
 * then. */
static INLINED char *plain_route_begin(const struct route *route, struct record *record,
				       const void *ip, size_t size)
{
	struct routed *routed = (struct routed *) (void *) record;
	const struct address *to = route->to;

	if (UNLIKELY(to->contexts.chosen != WHOSE_CONTEXTS ||
		     size > RECORD_BYTES - WHOSE_CONTEXTS_SIZE))
		return NULL;
	if (UNLIKELY(!plain_route_has_streams(route)))
		return NULL;
	note_short(routed, route, to, (1u << route->count) - 1, ip, size);
	return put_whose_contexts(routed->bytes, streams_of_thread[to->channel]);
}

/* Append what was begun to all channels. */
static INLINED void plain_route_commit(const struct routed *routed,
				       void (*otherwise)(const struct address *address,
							 const struct routed *routed))
{
	const uint32_t process = routed->stream_owner & ((1u << OWNER_PROCESS_BITS) - 1);
	const struct address *to = routed->route->to;
	const struct address *end = to + routed->route->count;
	uint64_t time = 0;

	if (UNLIKELY(!append_to_cpu_in_section(routed->bytes, routed->size, routed->stream_owner,
					       to->channel, to->class)))
		otherwise(to, routed);
	else
		/* The counter is read once for all of them. */
		time = streams_of_thread[to->channel]->cpu_time;
	while (++to < end)
		/* A child that was forked since has another owner, as has another recording. */
		if (UNLIKELY(!time ||
			     !append_later_to_cpu_in_section(routed->bytes, routed->size,
							     to->recording << OWNER_PROCESS_BITS |
								     process,
							     to->channel, to->class, time)))
			otherwise(to, routed);
}

#endif
