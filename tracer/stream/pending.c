/*
 * Records that are reserved and not yet committed, when there is more than one.
 *
 * Signal handlers end in the order opposite to that in which they came, so the record that
 * was reserved first is committed last, and all behind it are complete by then. But a
 * handler may leave by siglongjmp(), so that a record is never written; and it may switch to
 * another coroutine, so that records are completed in any order. So those behind the first
 * are counted while they are incomplete, and `committed` moves over them at once when none is
 * left.
 */
#include "pending.h"

#include <string.h>

#include "../base/clock.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "fields.h"

_Static_assert(PLACE_FILLER_FIELDS_SIZE == ADDR_FIELDS_SIZE &&
		       PLACES_FILLER_FIELDS_SIZE == CALL_FIELDS_SIZE,
	       "fillers are as long as what they stand for");

/* The class of the filler for a record of this payload; the largest for none. */
static enum event_class filler_class(size_t payload)
{
	return payload == 0                   ? EVENT_ABANDONED
		: payload == ADDR_FIELDS_SIZE ? EVENT_ABANDONED_PLACE
		: payload == CALL_FIELDS_SIZE ? EVENT_ABANDONED_PLACES
					      : EVENT_CLASSES;
}

/*
 * Write a record that says nothing over the place of one that never came.
 *
 * If the program goes back to that one, it is written over this, from anywhere in the middle
 * on: so nothing here depends on bytes behind the header, which it writes with one store, or
 * with several that all store the same but for the class.
 */
static bool fill(struct stream *stream, char *start, size_t size, uint64_t time)
{
	const size_t compact = COMPACT_HEADER_SIZE + settings.context_size;
	const size_t extended = EXTENDED_HEADER_SIZE + settings.context_size;
	struct record record = {.stream = stream, .start = start, .at = start};
	enum event_class class = size < compact ? EVENT_CLASSES : filler_class(size - compact);

	if (class != EVENT_CLASSES) {
		write_u32(&record, compact_header(class, time));
	} else {
		class = size < extended ? EVENT_CLASSES : filler_class(size - extended);
		if (class == EVENT_CLASSES)
			return false;
		write_u8(&record, HEADER_EXTENDED);
		write_u32(&record, class);
		write_u64(&record, time);
	}
	write_contexts(&record, NULL);
	memset(record.at, 0, (size_t) (start + size - record.at));
	return true;
}

/* Commit the records behind one that is committed, when all are written. */
static void commit_behind(struct stream *stream)
{
	struct arena_chunk *chunk = stream->chunk;

	stream->is_waiting = stream->nested > 0;
	if (stream->is_waiting)
		return;
	chunk->packet.timestamp_end = clock_read();
	publish_barrier();
	chunk->committed = (uint32_t) bytes_before(chunk, stream->next);
	stream->behind = 0;
}

/* Put a filler in the place of the pending record, and commit what lies behind it. */
static void give_up(struct stream *stream)
{
	struct arena_chunk *chunk = stream->chunk;
	const size_t offset = chunk->committed;
	const size_t size = stream->pending & ((1u << PENDING_SIZE_BITS) - 1);
	const uint64_t time = stream->pending_time;
	char *start = (char *) chunk + offset;

	/* Code that was interrupted in front of its reservation may have told of another
	 * record here. Then what lies behind waits for the end of the chunk. */
	if (!size || stream->pending != pending_word(time, offset, size) ||
	    start + size > stream->next || time < chunk->packet.timestamp_end ||
	    time > clock_read() || !fill(stream, start, size, time))
		return;
	chunk->discarded++;
	chunk->packet.timestamp_end = time;
	publish_barrier();
	chunk->committed = (uint32_t) bytes_before(chunk, start + size);
	commit_behind(stream);
}

/* Whether a filler is in the place of a record: of its bytes, only some may have come. */
static bool is_filler(const struct record *record)
{
	const size_t header = (size_t) (record->end - record->start) - settings.context_size;
	uint32_t word;
	uint32_t class;

	memcpy(&word, record->start, sizeof(word));
	memcpy(&class, record->start + 1, sizeof(class));
	for (size_t payload = 0; payload <= 2 * PLACE_SIZE; payload += PLACE_SIZE) {
		const enum event_class filler = filler_class(payload);

		if (header == EXTENDED_HEADER_SIZE + payload)
			return class == filler;
		if (header == COMPACT_HEADER_SIZE + payload)
			return word == compact_header(filler, record->time);
	}
	return false;
}

void pending_return(const struct record *record)
{
	const struct stream *stream = record->stream;
	struct arena_chunk *chunk = stream->chunk;

	/* In a chunk that is complete it stays lost. */
	if (stream->generation == record->generation && record->start >= (char *) chunk &&
	    bytes_before(chunk, record->end) <= chunk->committed && chunk->discarded &&
	    !is_filler(record))
		__atomic_fetch_sub(&chunk->discarded, 1, __ATOMIC_RELAXED);
}

uint64_t pending_nest(struct stream *stream, const char *stack)
{
	const signals before = system_block_signals();
	uint64_t generation;

	/* A handler runs below the frame that it interrupts, unless it has a stack of its own. A
	 * coroutine may also lie above: then the interrupted record comes later. */
	if (stack >= stream->pending_stack && pending_is_any(stream) &&
	    !system_is_on_signal_stack()) {
		stream->chunk->flags |= CHUNK_DOUBTFUL;
		give_up(stream);
		/* Handlers behind it are gone, too, if their records are not complete. Nobody
		 * knows where those end: the chunk ends here, and not all that would follow is
		 * lost. */
		if (stream->is_waiting) {
			stream->limit = NULL;
			system_restore_signals(before);
			return stream->generation - 1;
		}
	}
	stream->nested++;
	stream->behind++;
	generation = stream->generation;
	system_restore_signals(before);
	return generation;
}

void pending_unnest(struct stream *stream, uint64_t generation)
{
	const signals before = system_block_signals();

	if (stream->generation == generation) {
		stream->nested--;
		stream->behind--;
	}
	system_restore_signals(before);
}

void pending_commit_behind(const struct record *record)
{
	const signals before = system_block_signals();
	struct stream *stream = record->stream;
	const size_t offset = (size_t) (record->start - (char *) stream->chunk);

	/* If a coroutine got in between, there may be another one that is the first. */
	if (stream->pending ==
	    pending_word(record->time, offset, (size_t) (record->end - record->start)))
		commit_behind(stream);
	system_restore_signals(before);
}

void pending_commit(const struct record *record)
{
	const signals before = system_block_signals();
	struct stream *stream = record->stream;
	struct arena_chunk *chunk = stream->chunk;

	/* The chunk may be complete. */
	if (stream->generation == record->generation) {
		stream->nested--;
		if (stream->is_waiting || chunk->committed == bytes_before(chunk, record->start))
			commit_behind(stream);
	}
	system_restore_signals(before);
}

void pending_end(struct stream *stream)
{
	struct arena_chunk *chunk = stream->chunk;

	if (!pending_is_any(stream))
		return;
	chunk->flags |= CHUNK_DOUBTFUL;
	give_up(stream);
	/* The code whose record it was may be about to store its time. */
	chunk->least_end = chunk->packet.timestamp_end;
	if (!pending_is_any(stream))
		return;
	/* The first, if it was not given up, and those behind it. */
	chunk->discarded +=
		!stream->is_waiting + (unsigned int) (stream->behind > 0 ? stream->behind : 0);
	stream->next = (char *) chunk + chunk->committed;
}
