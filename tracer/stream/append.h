/* Appending a record to a stream of the thread. */
#ifndef VESTIGE_STREAM_APPEND_H
#define VESTIGE_STREAM_APPEND_H

#include "../arena/map.h"
#include "../base/settings.h"
#include "appending.h"

/* Whether a record must outlive others, in overwrite mode: which object is where, for the calls
 * that it tells about. */
static inline bool append_is_kept(struct destination to)
{
	return ((to.class > EVENT_EXIT && to.class <= EVENT_PYTHON_CODE) ||
		to.class == EVENT_LIBRARY_FUNCTION) &&
		settings.channels[to.channel].is_overwriting;
}

/* The room that a record asks for, at most. */
static inline size_t append_room(size_t size)
{
	return EXTENDED_HEADER_SIZE + WORD_BYTES + size;
}

/* Whether no chunk has room for it. */
static inline bool append_is_large(uint32_t channel, size_t size)
{
	return append_room(size) > arenas[channel].chunk_bytes - sizeof(struct arena_chunk);
}

/* Append a record; false when it is lost, which is counted. It has the present time, or an
 * earlier one that is not before that of the record before. */
bool append_record(struct appending *record, uint64_t earlier) HIDDEN;

#endif
