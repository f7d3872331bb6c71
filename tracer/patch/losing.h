/*
 * Counting records that find no room, without a look for any: a recording that is full goes on so
 * for long, and to keep vector registers for the look takes longer than all else.
 */
#ifndef VESTIGE_PATCH_LOSING_H
#define VESTIGE_PATCH_LOSING_H

#include <stdbool.h>
#include <stddef.h>

#include "../arena/slot.h"
#include "../arena/waiting.h"
#include "../base/clock.h"
#include "../base/compiler.h"
#include "../stream/stream.h"

/* Of the stream of functions that are recorded the usual way. */
#define USUAL_CHANNEL 0u

/* Count a usual record of some size as lost where stream_make_room() would do no more: the thread has
 * waited for room in vain, and nothing has changed since. */
static inline bool losing_counts(size_t size)
{
	const struct stream *stream = streams_of_thread[USUAL_CHANNEL];

	if (LIKELY(!stream || !stream->open || !stream->ring.is_dropping) ||
	    stream_needs_slot(USUAL_CHANNEL, stream) || stream_has_room(stream, size) ||
	    !waiting_is_vain(&stream->ring))
		return false;
	/* Who is recorded the usual way has the counter as the clock. */
	slot_count_lost(stream->ring.slot, clock_counter());
	return true;
}

#endif
