/* Appending records: in a section where that goes, else announced. */
#include "append.h"

#include "../base/clock.h"
#include "../base/settings.h"
#include "announce.h"
#include "cpu_ring.h"
#include "cpu_section.h"
#include "room.h"
#include "section.h"
#include "stream.h"

/* Give a record its time: an earlier one, or that of a clock that no section can read. */
static void set_time(struct appending *record, const struct stream *stream, uint64_t earlier)
{
	struct arena_chunk *chunk = stream->chunk;
	uint64_t last;

	record->chunk = chunk;
	record->committed = *(volatile uint32_t *) &chunk->committed;
	/* Where a record comes after this, the time is not used. */
	last = chunk->packet.timestamp_end;
	record->time = !earlier ? clock_read() : earlier > last ? earlier : last;
}

/* What became of a record in the ring of the CPU; APPEND_OTHERWISE: it must go to that of the
 * thread. */
static enum appended append_to_cpu(struct stream *stream, struct appending *record)
{
	switch (cpu_section_append(record, stream->owner)) {
	case APPENDED:
		return APPENDED;
	case APPEND_EXTENDED:
		record->header_size = EXTENDED_HEADER_SIZE;
		return APPEND_EXTENDED;
	case APPEND_ELSEWHERE:
		return cpu_ring_is_here(stream) ? APPEND_ELSEWHERE : APPEND_OTHERWISE;
	default:
		return APPEND_OTHERWISE;
	}
}

/* Append a record; whether its chunk must stay in overwrite mode. */
static bool append(struct appending *record, uint64_t earlier, bool is_kept)
{
	const size_t room = append_room(record->size);
	const uint32_t channel = record->channel;
	bool is_for_thread = earlier || is_kept;

	for (;;) {
		struct stream *stream = streams_of_thread[channel];

		if (stream && stream->cpus.count && !is_for_thread) {
			switch (append_to_cpu(stream, record)) {
			case APPENDED:
				return true;
			case APPEND_ELSEWHERE:
				if (!stream_make_room(channel, stream, room))
					return false;
				break;
			case APPEND_EXTENDED:
				break;
			case APPEND_OTHERWISE:
				is_for_thread = true;
			}
			continue;
		}
		if (UNLIKELY(is_kept) && stream && !stream_keep(channel, stream, room))
			return false;
		if (UNLIKELY(!stream || !stream_has_room(stream, room))) {
			if (!(is_for_thread ? stream_make_own_room(channel, stream, room)
					    : stream_make_room(channel, stream, room)))
				return false;
			continue;
		}
		if (UNLIKELY(earlier || !settings.counter_is_clock))
			set_time(record, stream, earlier);
		switch (stream->open ? section_append(record) : announce_append(stream, record)) {
		case APPENDED:
			return true;
		case APPEND_ELSEWHERE:
			break;
		case APPEND_EXTENDED:
			record->header_size = EXTENDED_HEADER_SIZE;
			break;
		case APPEND_OTHERWISE:
			if (!stream->open) {
				stream_count_lost(channel);
				return false;
			}
			/* What is left of the chunk is for records that may be interrupted. */
			stream->open = NULL;
		}
	}
}

bool append_record(struct appending *record, uint64_t earlier)
{
	const struct destination to = {record->channel, record->class};
	bool is_appended;

	if (UNLIKELY(append_is_large(to.channel, record->size)))
		return stream_append_parts(record, earlier, append_is_kept(to));
	if (LIKELY(!append_is_kept(to)))
		return append(record, earlier, false);
	is_appended = append(record, earlier, true);
	stream_limit(streams_of_thread[to.channel]);
	return is_appended;
}
